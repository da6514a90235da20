/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * Code objects are more than their addresses: these are reused. A code object's id is made of what it is: where it
 * lies, its name, file name and line table, its first line, its version.
 */

ALWAYS_INLINE u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9fb21c651e98df25ULL;
    return hash ^ (hash >> 29);
}

#define CODE_HEAD_BYTES END_PyCodeObject
#if CODE_HEAD_BYTES > CODE_HEAD_MAX
#error "members of PyCodeObject lie too far apart"
#endif

#ifdef OFF_PyCodeObject_co_linetable
#define OFF_CODE_LINES OFF_PyCodeObject_co_linetable
#else
#define OFF_CODE_LINES OFF_PyCodeObject_co_lnotab
#endif

#define HEAD_U64(offset) (*(u64 *)(o->head + (offset)))
#define HEAD_U32(offset) (*(u32 *)(o->head + (offset)))

/* Reads a code object; its id, or 0 if it is none. */
ALWAYS_INLINE u64 code_identify(struct scratch *s, struct outbox *o, u64 code)
{
    if (target_read(o->head, CODE_HEAD_BYTES, (void *)code))
        return 0;
    if (HEAD_U64(OFF_PyObject_ob_type) != s->code_type)
        return 0;
    u64 id = mix(s->key.pid, code);
    id = mix(id, HEAD_U64(OFF_PyCodeObject_co_name));
    id = mix(id, HEAD_U64(OFF_PyCodeObject_co_filename));
    id = mix(id, HEAD_U64(OFF_CODE_LINES));
    id = mix(id, HEAD_U32(OFF_PyCodeObject_co_firstlineno));
#ifdef OFF_PyCodeObject_co_version
    id = mix(id, HEAD_U32(OFF_PyCodeObject_co_version));
#endif
    return id | 1;
}
