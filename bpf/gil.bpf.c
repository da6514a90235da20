/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* The states of GIL, thread state and pthread id. Compiled in only when they are asked for. */

#if defined(PYPERF_SHOW_GIL_STATE) || defined(PYPERF_SHOW_THREAD_STATE)

struct gil {
    u32 known; /* 0: this layout cannot say */
    u32 error;
    s32 locked;
    s32 disabled;
    u64 holder;
};

/* state: this thread's, or 0. */
ALWAYS_INLINE struct gil gil_read(struct pyperf_process *process, u64 state)
{
    struct gil gil = {};
    u64 locked_addr = 0, holder_addr = 0;
#if defined(OFF_PyInterpreterState_ceval_gil) /* 3.12+: a GIL for each interpreter; always through its pointer */
    u64 interpreter = state ? target_read_u64(state + OFF_PyThreadState_interp)
                            : (process->interp_head_addr ? target_read_u64(process->interp_head_addr) : 0);
    u64 address = interpreter ? target_read_u64(interpreter + OFF_PyInterpreterState_ceval_gil) : 0;
    if (!address)
        return gil;
#ifdef OFF__gil_runtime_state_enabled
    s32 enabled = 0;
    target_read(&enabled, sizeof(enabled), (void *)(address + OFF__gil_runtime_state_enabled));
    if (enabled == 0) {
        gil.known = 1;
        gil.disabled = 1;
        return gil;
    }
#endif
    locked_addr = address + OFF__gil_runtime_state_locked;
    holder_addr = address + OFF__gil_runtime_state_last_holder;
#elif defined(OFF__PyRuntimeState_ceval_gil_locked) /* 3.7 - 3.11 */
    locked_addr = process->runtime_addr + OFF__PyRuntimeState_ceval_gil_locked;
    holder_addr = process->runtime_addr + OFF__PyRuntimeState_ceval_gil_last_holder;
#else                                               /* 3.6: two statics */
    locked_addr = process->gil_locked_addr;
    holder_addr = process->gil_last_holder_addr;
#endif
    if (!locked_addr || !holder_addr) {
        if (process->current_addr) { /* 2.7: the attached thread state is the holder */
            gil.known = 1;
            gil.holder = target_read_u64(process->current_addr);
            gil.locked = gil.holder != 0;
        }
        return gil;
    }
    gil.known = 1;
    if (target_read(&gil.locked, sizeof(gil.locked), (void *)locked_addr) ||
        target_read(&gil.holder, sizeof(gil.holder), (void *)holder_addr))
        gil.error = 1;
    return gil;
}

/* The thread state that is attached according to the interpreter, not to this thread. */
ALWAYS_INLINE u64 global_thread_state(struct pyperf_process *process, u64 state, struct gil *gil)
{
#ifdef OFF_PyThreadState_state /* free-threaded: each thread is attached (1) or not by itself */
    s32 attached = 0;
    if (gil->disabled) {
        if (state)
            target_read(&attached, sizeof(attached), (void *)(state + OFF_PyThreadState_state));
        return attached == 1 ? state : 0;
    }
#endif
    if (process->current_addr)
        return target_read_u64(process->current_addr);
    return gil->locked == 1 ? gil->holder : 0;
}
#endif

ALWAYS_INLINE void states_record(struct scratch *s, struct pyperf_process *process, u64 state)
{
#if defined(PYPERF_SHOW_GIL_STATE) || defined(PYPERF_SHOW_THREAD_STATE)
    struct gil gil = gil_read(process, state);
    u64 global = global_thread_state(process, state, &gil);
#endif
#ifdef PYPERF_SHOW_GIL_STATE
    u8 gil_state = PYPERF_GIL_NO_INFO;
    if (gil.known) {
        if (gil.error)
            gil_state = PYPERF_GIL_ERROR;
        else if (gil.disabled)
            gil_state = PYPERF_GIL_DISABLED;
        else if (gil.locked == -1)
            gil_state = PYPERF_GIL_UNINITIALIZED;
        else if (gil.locked == 0)
            gil_state = PYPERF_GIL_NOT_LOCKED;
        else if (gil.locked != 1)
            gil_state = PYPERF_GIL_ERROR;
        else if (!gil.holder)
            gil_state = PYPERF_GIL_NULL;
        else if (gil.holder == state)
            gil_state = PYPERF_GIL_THIS_THREAD;
        else if (gil.holder == global)
            gil_state = PYPERF_GIL_GLOBAL_CURRENT_THREAD;
        else
            gil_state = PYPERF_GIL_OTHER_THREAD;
    }
    s->key.gil_state = gil_state;
#endif
#ifdef PYPERF_SHOW_THREAD_STATE
    if (!state && !global)
        s->key.thread_state = PYPERF_THREAD_STATE_BOTH_NULL;
    else if (!state)
        s->key.thread_state = PYPERF_THREAD_STATE_THIS_THREAD_NULL;
    else if (!global)
        s->key.thread_state = PYPERF_THREAD_STATE_GLOBAL_CURRENT_THREAD_NULL;
    else
        s->key.thread_state = state == global ? PYPERF_THREAD_STATE_MATCH : PYPERF_THREAD_STATE_MISMATCH;
#endif
#ifdef PYPERF_SHOW_PTHREAD_ID
    if (!state) {
        s->key.pthread_id = PYPERF_PTHREAD_ID_THREAD_STATE_NULL;
    } else {
        u64 created = target_read_u64(state + OFF_PyThreadState_thread_id);
        if (!created)
            s->key.pthread_id = PYPERF_PTHREAD_ID_NULL;
        else if (!s->thread_pointer)
            s->key.pthread_id = PYPERF_PTHREAD_ID_ERROR;
        else
            s->key.pthread_id = created == s->thread_pointer + process->libc.thread_id_delta
                                    ? PYPERF_PTHREAD_ID_MATCH
                                    : PYPERF_PTHREAD_ID_MISMATCH;
    }
#endif
}
