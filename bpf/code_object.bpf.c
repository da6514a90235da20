/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * A stack of code objects' ids is the content that is counted and sent. Three programs: `identify` reads all code
 * objects of the stack and finds out whether it is the stack it was at the last check; `collect` lists what of it user
 * space does not have yet; `send` sends that, calling itself until all is sent, and then the stack.
 */

/* The class's id, or 0 if what a frame calls cls is no class. */
#if RULE_frame_chain == FRAME_CHAIN_frame_object
#define TPFLAGS_TYPE_SUBCLASS (1UL << 31) /* Py_TPFLAGS_TYPE_SUBCLASS, object.h */
ALWAYS_INLINE u64 class_identify(struct scratch *s, u64 type, u32 flags, u64 *name)
{
    if (flags & PYPERF_FRAME_CLS) {
        u64 metaclass = target_read_u64(type + OFF_PyObject_ob_type);
        if (!(target_read_u64(metaclass + OFF_PyTypeObject_tp_flags) & TPFLAGS_TYPE_SUBCLASS))
            return 0;
    }
    *name = target_read_u64(type + OFF_PyTypeObject_tp_name);
    return mix(mix(s->key.pid, type), *name) | 1;
}
#endif

/* Counts a tick whose code objects have just been looked at: it confirms those since the last look. */
ALWAYS_INLINE void stack_count_checked(void *ctx, struct scratch *s)
{
    u64 checked = s->unsent ? 0 : s->start_ns; /* 0: look again with the next tick, and send what is missing */
    struct pyperf_count *count = count_find(&s->key);
    if (count && count->content_id == s->content_id) {
        count->confirmed += count->pending + 1;
        count->pending = 0;
        count->last_check_ns = checked;
        tick_class_add(s->key.tick_class);
    } else {
        tick_count_new(ctx, s, s->content_id, checked);
    }
    tick_cost_add(s);
}

ALWAYS_INLINE void process_mark_exact(struct scratch *s)
{
    struct pyperf_process *process = process_find(s->key.pid);
    if (process)
        process->exact = 1;
}

/* Frames that one run of `identify` or `collect` deals with; they call themselves for the rest. The verifier takes its
 * time for each step, while the kernel allows 32 tail calls in a tick. */
#define FRAMES_PER_RUN 128

/* Called by the program before it with s->cursor = 0. */
int identify(struct bpf_perf_event_data *ctx)
{
    struct scratch *s = scratch_get();
    struct addresses *a = addresses_get();
    struct outbox *o = outbox_get();
    if (!s || !a || !o)
        return 0; /* cannot be */
    u32 first = s->cursor;
    u64 content = first ? s->content_id : mix(s->key.pid, s->stack.truncated);
    u32 torn = 0;
    for (u32 step = 0; step < FRAMES_PER_RUN; step++) {
        u32 i = first + step;
        if (i >= s->stack.frame_count)
            break;
        i &= PYPERF_MAX_FRAMES - 1;
        u64 id = code_identify(s, o, a->code[i]);
        if (!id) {
            torn = 1;
            break;
        }
        s->stack.frames[i].code_id = id;
        u64 class_id = 0;
#if RULE_frame_chain == FRAME_CHAIN_frame_object
        first_argument_forget_other(s, a->code[i], id);
        if (a->first_type[i]) {
            u64 name;
            class_id = class_identify(s, a->first_type[i], s->stack.frames[i].flags, &name);
        }
#endif
        s->stack.frames[i].class_id = class_id;
        content = mix(content, id);
        content = mix(content, class_id);
        content = mix(content, (u32)s->stack.frames[i].instruction | (u64)s->stack.frames[i].flags << 32);
    }
    if (torn) {
        tick_end_without_stack(ctx, s, PYPERF_TICK_TORN);
        tick_cost_add(s);
        return 0;
    }
    if (s->replaced) { /* this walk took a frame's class by what another code object's first argument was */
        process_mark_exact(s);
        tick_end_without_stack(ctx, s, PYPERF_TICK_STALE_CODE);
        tick_cost_add(s);
        return 0;
    }
    s->content_id = content;
    s->cursor = first + FRAMES_PER_RUN;
    if (s->cursor < s->stack.frame_count) {
        go_to_identifier(ctx, s->layout);
        tick_end_without_stack(ctx, s, PYPERF_TICK_LOST); /* cannot be: there are tail calls left */
        return 0;
    }
    content |= 1;
    s->content_id = content;
    s->cursor = 0;
    if (s->exact)
        s->key.stack_id = content;
    struct pyperf_count *count = count_find(&s->key);
    if (count && count->content_id != content) {
        /* Other code at the same addresses. What was counted since the last check may belong to either. */
        count->stale += count->pending;
        count->pending = 0;
        process_mark_exact(s);
        s->key.stack_id = content;
    }
    s->unsent = 0;
    s->unknown_count = 0;
    if (!stack_was_sent(content)) {
        go_to_collector(ctx, s->layout);
        s->unsent = 1;
    }
    stack_count_checked(ctx, s);
    return 0;
}

/* ---- sending ---- */

/* Without a branch but the one of the look-up, for each doubles the paths that the verifier follows; and the number in
 * memory, where the verifier does not follow its values. */
ALWAYS_INLINE void unknown_add(struct scratch *s, u64 id, u32 what)
{
    u64 *seen = &s->seen[(id >> 8) & (SEEN_SLOTS - 1)];
    u64 mark = id ^ s->start_ns; /* of this tick */
    u64 other = *seen ^ mark;
    *seen = mark;
    volatile u32 *number = &s->unknown_count;
    u32 count = *number;
    s->unknown[count & (UNKNOWN_MAX - 1)] = what;
    other = (other | -other) >> 63; /* 1: not met before in this tick */
    if (object_was_sent(id))
        other = 0;
    *number = count + other;
}

int collect(struct bpf_perf_event_data *ctx)
{
    struct scratch *s = scratch_get();
    if (!s)
        return 0; /* cannot be */
    u32 first = s->cursor;
    for (u32 step = 0; step < FRAMES_PER_RUN; step++) {
        u32 i = first + step;
        if (i >= s->stack.frame_count)
            break;
        i &= PYPERF_MAX_FRAMES - 1;
        unknown_add(s, s->stack.frames[i].code_id, i);
#if RULE_frame_chain == FRAME_CHAIN_frame_object
        if (s->stack.frames[i].class_id)
            unknown_add(s, s->stack.frames[i].class_id, i | UNKNOWN_CLASS);
#endif
    }
    s->cursor = first + FRAMES_PER_RUN;
    if (s->cursor < s->stack.frame_count)
        go_to_collector(ctx, s->layout);
    s->cursor = 0;
    if (s->unknown_count > UNKNOWN_MAX) { /* the last ones overwrote the first: these are for the next tick */
        s->unknown_count = UNKNOWN_MAX;
        s->unsent = 1;
    }
    go_to_sender(ctx, s->layout);
    s->unsent = 1;
    stack_count_checked(ctx, s);
    return 0;
}

ALWAYS_INLINE u32 piece_read(struct pyperf_code_record *code, u32 at, struct pyperf_text *piece, u64 object, u64 data,
                             u64 bytes, u32 most)
{
    piece->address = object; /* user space finds the data behind its header, as here */
    piece->bytes = bytes;
    piece->copied = 0;
    piece->error = 0;
    piece->reserved = 0;
    u64 copy = bytes < most ? bytes : most;
    asm volatile("" : "+r"(copy));
    if (copy > most || at > PYPERF_CODE_DATA_MAX - most)
        return at;
    if (target_read(code->data + at, copy, (void *)data)) {
        piece->error = 1; /* not paged in, say: user space tries to read it */
        return at;
    }
    piece->copied = copy;
    return at + copy;
}

ALWAYS_INLINE u32 bytes_read(struct pyperf_code_record *code, u32 at, struct pyperf_text *piece, u64 object, u32 most)
{
#if RULE_string_kind == STRING_KIND_bytes
    u64 header = object + OFF_PyStringObject_ob_size;
    u64 data = object + OFF_PyStringObject_ob_sval;
#else
    u64 header = object + OFF_PyBytesObject_ob_size;
    u64 data = object + OFF_PyBytesObject_ob_sval;
#endif
    u64 length = 0;
    u32 unread = target_read(&length, sizeof(length), (void *)header) != 0;
    piece->state = 0;
    at = piece_read(code, at, piece, object, data, length, most);
    *(volatile u32 *)&piece->error |= unread; /* it would pass for an empty one */
    return at;
}

ALWAYS_INLINE u32 string_read(struct pyperf_code_record *code, u32 at, struct pyperf_text *piece, u64 object, u32 most)
{
#if RULE_string_kind == STRING_KIND_bytes
    return bytes_read(code, at, piece, object, most);
#else
    u64 length = target_read_u64(object + OFF_PyASCIIObject_length);
    u32 state = 0;
    target_read(&state, sizeof(state), (void *)(object + OFF_PyASCIIObject_state));
    u32 kind = (state >> OFF_PyASCIIObject_state_kind_shift) & 7;
    u32 ascii = (state >> OFF_PyASCIIObject_state_ascii_shift) & 1;
    piece->state = state;
    return piece_read(code, at, piece, object, object + (ascii ? SIZE_PyASCIIObject : SIZE_PyCompactUnicodeObject),
                      length * kind, most);
#endif
}

ALWAYS_INLINE int code_send(void *ctx, struct scratch *s, struct outbox *o, u64 code, u64 id)
{
    if (code_identify(s, o, code) != id)
        return -1;
    struct pyperf_code_record *r = &o->code;
    r->type = PYPERF_RECORD_CODE;
    r->pid = s->key.pid;
    r->code_id = id;
    r->code_addr = code;
    r->first_line = HEAD_U32(OFF_PyCodeObject_co_firstlineno);
    r->flags = HEAD_U32(OFF_PyCodeObject_co_flags);
    r->layout = s->layout;
    r->version = 0;
    r->first_traceable = 0;
    r->reserved = 0;
#ifdef OFF_PyCodeObject_co_version
    r->version = HEAD_U32(OFF_PyCodeObject_co_version);
#endif
#ifdef OFF_PyCodeObject__co_firsttraceable
    r->first_traceable = HEAD_U32(OFF_PyCodeObject__co_firsttraceable);
#endif
    u32 at = string_read(r, 0, &r->name, HEAD_U64(OFF_PyCodeObject_co_name), PYPERF_NAME_MAX);
#ifdef OFF_PyCodeObject_co_qualname
    at = string_read(r, at, &r->qualname, HEAD_U64(OFF_PyCodeObject_co_qualname), PYPERF_NAME_MAX);
#else
    __builtin_memset(&r->qualname, 0, sizeof(r->qualname));
#endif
    at = string_read(r, at, &r->filename, HEAD_U64(OFF_PyCodeObject_co_filename), PYPERF_FILE_MAX);
    at = bytes_read(r, at, &r->lines, HEAD_U64(OFF_CODE_LINES), PYPERF_LINES_MAX);
    u64 bytes = __builtin_offsetof(struct pyperf_code_record, data) + at;
    asm volatile("" : "+r"(bytes));
    if (bytes > sizeof(*r))
        return -1;
    return record_send(ctx, r, bytes);
}

#if RULE_frame_chain == FRAME_CHAIN_frame_object
ALWAYS_INLINE int class_send(void *ctx, struct scratch *s, struct outbox *o, u64 type, u32 flags)
{
    struct pyperf_class_record *r = &o->type;
    u64 name = 0;
    r->type = PYPERF_RECORD_CLASS;
    r->pid = s->key.pid;
    r->class_id = class_identify(s, type, flags, &name);
    r->class_addr = type;
    r->name.state = 0;
    r->name.reserved = 0;
    r->name.copied = 0;
    r->name.bytes = 0;
    r->name.error = 1;
#ifdef OFF_PyClassObject_cl_name
    u64 metaclass = target_read_u64(type + OFF_PyObject_ob_type);
    if (!(target_read_u64(metaclass + OFF_PyTypeObject_tp_flags) & TPFLAGS_TYPE_SUBCLASS)) /* an old-style class */
        name = target_read_u64(type + OFF_PyClassObject_cl_name) + OFF_PyStringObject_ob_sval;
#endif
    r->name.address = name;
    int copied = target_read_string(r->data, sizeof(r->data), (void *)name);
    if (copied > 0) { /* with the NUL */
        r->name.copied = copied - 1;
        r->name.bytes = copied - 1;
        r->name.error = 0;
    }
    return record_send(ctx, r, sizeof(*r));
}
#endif

/* Objects that one run of the program sends. Of the 32 tail calls that the kernel allows in a tick the
 * deepest walk leaves 4, one of up to 128 frames 28. */
#define SEND_ROUNDS 8

int send(struct bpf_perf_event_data *ctx)
{
    struct scratch *s = scratch_get();
    struct addresses *a = addresses_get();
    struct outbox *o = outbox_get();
    if (!s || !a || !o)
        return 0; /* cannot be */
    for (int round = 0; round < SEND_ROUNDS; round++) {
        if (s->cursor >= s->unknown_count)
            break;
        u32 what = s->unknown[s->cursor & (UNKNOWN_MAX - 1)];
        s->cursor++;
        u32 i = what & (PYPERF_MAX_FRAMES - 1);
        u64 id = s->stack.frames[i].code_id;
        int error;
#if RULE_frame_chain == FRAME_CHAIN_frame_object
        if (what & UNKNOWN_CLASS) {
            id = s->stack.frames[i].class_id;
            error = class_send(ctx, s, o, a->first_type[i], s->stack.frames[i].flags);
        } else
#endif
            error = code_send(ctx, s, o, a->code[i], id);
        if (error) {
            s->unsent = 1;
            counter_add(PYPERF_COUNTER_RECORDS_DROPPED, 1);
        } else {
            counter_add(PYPERF_COUNTER_CODES_SENT, 1);
            object_mark_sent(id); /* when that map is full it will be sent again, which is harmless */
        }
    }
    if (s->cursor < s->unknown_count) {
        go_to_sender(ctx, s->layout);
        s->unsent = 1; /* the limit of tail calls: the next tick goes on */
    }
    if (!s->unsent) {
        s->stack.type = PYPERF_RECORD_STACK;
        s->stack.pid = s->key.pid;
        s->stack.content_id = s->content_id;
        u64 bytes = __builtin_offsetof(struct pyperf_stack_record, frames) +
                    (u64)s->stack.frame_count * sizeof(struct pyperf_frame);
        asm volatile("" : "+r"(bytes));
        if (bytes > sizeof(s->stack) || record_send(ctx, &s->stack, bytes)) {
            s->unsent = 1;
            counter_add(PYPERF_COUNTER_RECORDS_DROPPED, 1);
        } else {
            counter_add(PYPERF_COUNTER_STACKS_SENT, 1);
            if (stack_mark_sent(s->content_id))
                counter_add(PYPERF_COUNTER_STACKS_RESENT_FULL, 1);
        }
    }
    stack_count_checked(ctx, s);
    return 0;
}
