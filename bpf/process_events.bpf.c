/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * Life and death of processes, at the very moment: a fork's child starts with its parent's entry (same memory, same
 * interpreter), exec and the exit of a process's last thread drop it. User space learns the same from the kernel's
 * records a little later, and only ever adds entries.
 */

int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
    u64 parent = ctx->args[0];
    u64 child = ctx->args[1];
    u32 parent_pid = 0, child_pid = 0, child_tid = 0;
    kernel_read(&child_pid, sizeof(child_pid), (void *)(child + TASK_TGID));
    kernel_read(&child_tid, sizeof(child_tid), (void *)(child + TASK_PID));
    if (child_pid != child_tid)
        return 0; /* a thread */
    kernel_read(&parent_pid, sizeof(parent_pid), (void *)(parent + TASK_TGID));
    struct pyperf_process *of_parent = process_find(parent_pid);
    if (!of_parent)
        return 0;
    struct pyperf_process entry = *of_parent;
    entry.start_time_ticks = task_start_ticks(child);
    process_put(child_pid, &entry);
    return 0;
}

int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    process_drop(pid);
    return 0;
}

int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
    u64 task = ctx->args[0];
    u32 live = 1, tid = 0;
    kernel_read(&live, sizeof(live), (void *)(kernel_read_u64(task + TASK_SIGNAL) + SIGNAL_LIVE));
    kernel_read(&tid, sizeof(tid), (void *)(task + TASK_PID));
    thread_forget(tid);
    if (live == 0) { /* the last thread of it */
        u32 pid = 0;
        kernel_read(&pid, sizeof(pid), (void *)(task + TASK_TGID));
        process_drop(pid);
    }
    return 0;
}
