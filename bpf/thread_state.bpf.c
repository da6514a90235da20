/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * Which PyThreadState is this thread's? Whatever the route, the answer is proven: a thread state's thread_id is the C
 * library's pthread_self() of its thread, which lies at a fixed distance from the thread pointer.
 */

ALWAYS_INLINE int thread_state_is_mine(struct scratch *s, struct pyperf_process *process, u64 state)
{
    if (!state)
        return 0;
    u64 thread_id = target_read_u64(state + OFF_PyThreadState_thread_id);
    return thread_id == s->thread_pointer + process->libc.thread_id_delta;
}

/* A thread-local variable of the target; 0 where it is not there (yet). */
ALWAYS_INLINE u64 tls_read(struct scratch *s, struct pyperf_process *process, struct pyperf_tls_slot *slot)
{
    if (slot->kind == PYPERF_SLOT_TP)
        return target_read_u64(s->thread_pointer + slot->offset);
    if (slot->kind == PYPERF_SLOT_DTV) {
        u64 module = target_read_u64(slot->module_addr);
        u64 dtv = target_read_u64(s->thread_pointer + process->libc.dtv);
        if (!module || module > 65536 || !dtv)
            return 0;
        u64 block = target_read_u64(dtv + module * process->libc.dtv_entry_bytes);
        if (!block || block == ~0ULL) /* glibc: not allocated in this thread yet */
            return 0;
        return target_read_u64(block + slot->offset);
    }
    return 0;
}

/* pthread_getspecific(key). */
ALWAYS_INLINE u64 pthread_value(struct scratch *s, struct pyperf_process *process, s32 key)
{
    if (key < 0 || key > 1023)
        return 0;
    u64 base;
    if (process->libc.key_indirect) { /* musl: one array of pointers */
        base = target_read_u64(s->thread_pointer + process->libc.key_table);
        return base ? target_read_u64(base + (u64)key * 8) : 0;
    }
    /* glibc: slots {sequence number, value} of 16 bytes, 32 to a block; only the first block is in struct pthread */
    if (key < 32)
        return target_read_u64(s->thread_pointer + process->libc.key_block + (u64)key * 16 + 8);
    base = target_read_u64(s->thread_pointer + process->libc.key_table + (u64)(key / 32) * 8);
    return base ? target_read_u64(base + (u64)(key % 32) * 16 + 8) : 0;
}

#if RULE_thread_binding == THREAD_BINDING_key_list
/* 2.7: CPython keeps thread-locals in a list of its own: {next, thread id, key, value} (Python/thread.c). */
#define KEY_LIST_STEPS 512
struct key_list_node {
    u64 next;
    u64 thread_id;
    s32 key;
    u32 reserved;
    u64 value;
};
ALWAYS_INLINE u64 bound_thread_state(struct scratch *s, struct pyperf_process *process)
{
    if (!process->key_list_addr || !process->key_addr)
        return 0;
    u64 own = s->thread_pointer + process->libc.thread_id_delta;
    s32 key = (s32)target_read_u64(process->key_addr);
    u64 node = target_read_u64(process->key_list_addr);
    for (int i = 0; i < KEY_LIST_STEPS; i++) {
        struct key_list_node n = {};
        if (!node || target_read(&n, sizeof(n), (void *)node))
            return 0;
        if (n.thread_id == own && n.key == key)
            return n.value;
        node = n.next;
    }
    return 0;
}
#elif RULE_thread_binding == THREAD_BINDING_thread_local
ALWAYS_INLINE u64 bound_thread_state(struct scratch *s, struct pyperf_process *process)
{
    return tls_read(s, process, &process->bound_tls);
}
#else /* a pthread key, in a static int up to 3.6 and in a Py_tss_t from 3.7 on: {int is_initialized; key} */
ALWAYS_INLINE u64 bound_thread_state(struct scratch *s, struct pyperf_process *process)
{
    if (!process->key_addr)
        return 0;
#if RULE_thread_binding == THREAD_BINDING_runtime_key
    u32 tss[2] = {};
    if (target_read(tss, sizeof(tss), (void *)(process->key_addr - 4)) || !tss[0])
        return 0;
    return pthread_value(s, process, (s32)tss[1]);
#else
    s32 key = -1;
    target_read(&key, sizeof(key), (void *)process->key_addr);
    return pthread_value(s, process, key);
#endif
}
#endif

/* The attached thread state: of the process up to 3.11 (there is one GIL), of this thread from 3.12 on. */
ALWAYS_INLINE u64 attached_thread_state(struct scratch *s, struct pyperf_process *process)
{
    if (process->current_tls.kind)
        return tls_read(s, process, &process->current_tls);
    return process->current_addr ? target_read_u64(process->current_addr) : 0;
}

/* The interpreters' own lists: the slow route, bounded; what it finds is remembered by thread. */
#ifdef OFF_PyInterpreterState_threads_head
#define OFF_FIRST_THREAD_STATE OFF_PyInterpreterState_threads_head
#else
#define OFF_FIRST_THREAD_STATE OFF_PyInterpreterState_tstate_head
#endif
#define THREAD_LIST_STEPS 512
ALWAYS_INLINE u64 listed_thread_state(struct scratch *s, struct pyperf_process *process)
{
    u64 own = s->thread_pointer + process->libc.thread_id_delta;
    u64 interpreter = process->interp_head_addr ? target_read_u64(process->interp_head_addr) : 0;
    u64 state = interpreter ? target_read_u64(interpreter + OFF_FIRST_THREAD_STATE) : 0;
    for (int i = 0; i < THREAD_LIST_STEPS; i++) {
        if (!interpreter)
            return 0;
        if (!state) {
            interpreter = target_read_u64(interpreter + OFF_PyInterpreterState_next);
            state = interpreter ? target_read_u64(interpreter + OFF_FIRST_THREAD_STATE) : 0;
            continue;
        }
        if (target_read_u64(state + OFF_PyThreadState_thread_id) == own)
            return state;
        state = target_read_u64(state + OFF_PyThreadState_next);
    }
    return 0;
}

/* 0: this thread has none. Up to 3.11 the key keeps a thread's first state while a subinterpreter runs in it, so the
 * attached one is asked first. */
ALWAYS_INLINE u64 thread_state_find(struct scratch *s, struct pyperf_process *process)
{
    u64 state = attached_thread_state(s, process);
    if (thread_state_is_mine(s, process, state)) {
        counter_add(PYPERF_COUNTER_ROUTE_CURRENT, 1);
        return state;
    }
    state = bound_thread_state(s, process);
    if (state) {
        if (thread_state_is_mine(s, process, state)) {
            counter_add(PYPERF_COUNTER_ROUTE_BOUND, 1);
            return state;
        }
        counter_add(PYPERF_COUNTER_ROUTE_UNPROVEN, 1);
    }
    if (process->key_addr || process->bound_tls.kind)
        return 0; /* the binding can be read, and says: none */
    state = thread_recall(s->key.tid);
    if (thread_state_is_mine(s, process, state)) {
        counter_add(PYPERF_COUNTER_ROUTE_CACHE, 1);
        return state;
    }
    state = listed_thread_state(s, process);
    if (state) {
        thread_remember(s->key.tid, state);
        counter_add(PYPERF_COUNTER_ROUTE_LIST, 1);
    }
    return state;
}
