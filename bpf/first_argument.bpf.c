/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * Up to 3.10 a code object has no qualified name; the class of a method is that of its first argument, when this is
 * called self (an instance: its type) or cls (a class: itself). Which code objects have such an argument is remembered
 * per CPU, so that all other frames cost one look at an array.
 */
#if RULE_frame_chain == FRAME_CHAIN_frame_object

#define FIRST_ARGUMENTS_MASK (PYPERF_FIRST_ARGUMENTS - 1)

#if RULE_string_kind == STRING_KIND_bytes
#define OFF_STRING_LENGTH OFF_PyStringObject_ob_size
#define OFF_STRING_DATA OFF_PyStringObject_ob_sval
#else
#define OFF_STRING_LENGTH OFF_PyASCIIObject_length
#define OFF_STRING_DATA SIZE_PyASCIIObject /* self and cls are ASCII */
#endif

ALWAYS_INLINE u32 first_argument_ask(u64 code)
{
    u32 argument_count = 0, characters = 0;
    target_read(&argument_count, sizeof(argument_count), (void *)(code + OFF_PyCodeObject_co_argcount));
    if (argument_count == 0 || argument_count > 255)
        return FIRST_ARGUMENT_OTHER;
    u64 names = target_read_u64(code + OFF_PyCodeObject_co_varnames);
    u64 name = target_read_u64(names + OFF_PyTupleObject_ob_item);
    u64 length = target_read_u64(name + OFF_STRING_LENGTH);
    if (length != 4 && length != 3)
        return FIRST_ARGUMENT_OTHER;
    target_read(&characters, sizeof(characters), (void *)(name + OFF_STRING_DATA));
    if (length == 4 && characters == 0x666c6573) /* "self" */
        return FIRST_ARGUMENT_SELF;
    if (length == 3 && (characters & 0xffffff) == 0x736c63) /* "cls" */
        return FIRST_ARGUMENT_CLS;
    return FIRST_ARGUMENT_OTHER;
}

ALWAYS_INLINE struct first_argument *first_argument_of(u64 code)
{
    u64 mixed = (code >> 4) * 0x9e3779b97f4a7c15ULL;
    return first_argument_slot((mixed >> 32) & FIRST_ARGUMENTS_MASK);
}

ALWAYS_INLINE u32 first_argument_kind(struct scratch *s, u64 code)
{
    struct first_argument *slot = first_argument_of(code);
    if (!slot)
        return FIRST_ARGUMENT_OTHER;
    if (slot->code == code && slot->pid == s->key.pid && !s->exact)
        return slot->kind;
    struct outbox *o = outbox_get();
    if (!o)
        return FIRST_ARGUMENT_OTHER; /* cannot be */
    slot->code_id = code_identify(s, o, code);
    u32 kind = first_argument_ask(code);
    slot->code = code;
    slot->pid = s->key.pid;
    slot->kind = kind;
    return kind;
}

/* Sets s->replaced if what is remembered of this address was asked of another code object than the one that lies there
 * now. Without a branch but the one of the look-up, and with the answer in memory: the verifier would follow each. */
ALWAYS_INLINE void first_argument_forget_other(struct scratch *s, u64 code, u64 id)
{
    struct first_argument *slot = first_argument_of(code);
    if (!slot)
        return;
    u64 elsewhere = (slot->code ^ code) | (slot->pid ^ s->key.pid);
    u64 different = slot->code_id ^ id;
    u64 replaced = ~((elsewhere | -elsewhere) >> 63) & ((different | -different) >> 63); /* 0 or 1 */
    slot->code &= replaced - 1;
    *(volatile u32 *)&s->replaced |= replaced;
}

/* The class that a frame's method belongs to: address of a type (of an old-style class in 2.7), 0: none. */
ALWAYS_INLINE u64 frame_class(struct scratch *s, u64 frame, u64 code, u32 *flags)
{
    u32 kind = first_argument_kind(s, code);
    if (kind == FIRST_ARGUMENT_OTHER)
        return 0;
    u64 object = target_read_u64(frame + OFF_PyFrameObject_f_localsplus);
    if (!object) /* deleted, or moved into a cell because an inner function uses it */
        return 0;
    if (kind == FIRST_ARGUMENT_CLS) {
        *flags |= PYPERF_FRAME_CLS;
        return object;
    }
    u64 type = target_read_u64(object + OFF_PyObject_ob_type);
#ifdef OFF_PyInstanceObject_in_class
    if (type && type == s->instance_type)
        return target_read_u64(object + OFF_PyInstanceObject_in_class);
#endif
    return type;
}
#endif
