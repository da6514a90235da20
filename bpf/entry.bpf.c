/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* The program on every tick: whose tick is it, and which walker is for it? */

#if defined(__x86_64__)
#define CTX_MODE_OFFSET 136 /* pt_regs.cs */
#define CTX_MODE_MASK 3
#define CTX_MODE_USER 3
#elif defined(__aarch64__)
#define CTX_MODE_OFFSET 264 /* user_pt_regs.pstate */
#define CTX_MODE_MASK 0xf
#define CTX_MODE_USER 0
#else
#error "this architecture is not supported"
#endif

ALWAYS_INLINE u64 kernel_read_u64(u64 address)
{
    u64 value = 0;
    kernel_read(&value, sizeof(value), (void *)address);
    return value;
}

/* Start time of a task's process since boot in 1/100 s, as /proc/PID/stat has it: pids are reused, this is not. */
ALWAYS_INLINE u64 task_start_ticks(u64 task)
{
    u64 leader = kernel_read_u64(task + TASK_GROUP_LEADER);
    return kernel_read_u64(leader + TASK_START_BOOTTIME) / 10000000;
}

int on_tick(struct bpf_perf_event_data *ctx)
{
    u64 start_ns = bpf_ktime_get_ns();
    counter_add(PYPERF_COUNTER_DELIVERED, 1);
    struct scratch *s = scratch_get();
    if (!s)
        return 0; /* cannot be: the array has one entry */

    u64 pid_tgid = bpf_get_current_pid_tgid();
    u32 pid = pid_tgid >> 32;
    u32 tid = pid_tgid;
#ifndef PYPERF_INCLUDE_IDLE
    if (tid == 0) {
        tick_class_add(PYPERF_TICK_IDLE);
        return 0;
    }
#endif
    if (!(TICK_IS_WANTED)) {
        tick_class_add(PYPERF_TICK_FILTERED);
        return 0;
    }
#ifdef PYPERF_CGROUP_MAP
    if (!cgroup_passes()) {
        tick_class_add(PYPERF_TICK_FILTERED);
        return 0;
    }
#endif
#ifdef PYPERF_MNTNS_MAP
    u64 nsproxy = kernel_read_u64(bpf_get_current_task() + TASK_NSPROXY);
    u64 mntns = kernel_read_u64(nsproxy + NSPROXY_MNT_NS);
    u32 mntns_id = 0;
    kernel_read(&mntns_id, sizeof(mntns_id), (void *)(mntns + MNT_NS_INUM));
    if (!mntns_passes(mntns_id)) {
        tick_class_add(PYPERF_TICK_FILTERED);
        return 0;
    }
#endif

    s->start_ns = start_ns;
    s->key.stack_id = 0;
    s->key.pid = pid;
    s->key.tid = tid;
    s->key.kernel_stack = -1;
    s->key.tick_class = 0;
    s->key.gil_state = 0;
    s->key.thread_state = 0;
    s->key.pthread_id = 0;
    bpf_get_current_comm(&s->key.comm, sizeof(s->key.comm));
    s->stack.frame_count = 0;

#ifdef PYPERF_KERNEL_ONLY
    s->key.kernel_stack = kernel_stack_id(ctx);
    tick_end_without_stack(ctx, s, PYPERF_TICK_NO_PYTHON_FRAMES);
    tick_cost_add(s);
    return 0;
#else
    struct pyperf_process *process = process_find(pid);
    u64 task = bpf_get_current_task();
    if (!process || process->start_time_ticks != task_start_ticks(task)) {
        tick_end_without_stack(ctx, s, PYPERF_TICK_NOT_PYTHON);
        return 0;
    }
#ifndef PYPERF_USER_ONLY
    /* Asking for the kernel's stack of a tick in user mode costs and gives nothing. */
    if ((*(u64 *)((void *)ctx + CTX_MODE_OFFSET) & CTX_MODE_MASK) != CTX_MODE_USER)
        s->key.kernel_stack = kernel_stack_id(ctx);
#endif
    if (process->state == PYPERF_PROCESS_READY) {
        s->thread_pointer = kernel_read_u64(task + TASK_THREAD_POINTER);
        s->layout = process->layout;
        s->exact = process->exact;
        s->code_type = process->code_type_addr;
        s->instance_type = process->instance_type_addr;
        go_to_walker(ctx, process->layout);
        /* Still here: that walker is not loaded (yet). */
        tick_end_without_stack(ctx, s, PYPERF_TICK_NOT_SET_UP);
    } else if (process->state == PYPERF_PROCESS_UNSUPPORTED) {
        tick_end_without_stack(ctx, s, PYPERF_TICK_UNSUPPORTED);
    } else {
        tick_end_without_stack(ctx, s, PYPERF_TICK_NOT_SET_UP);
    }
    tick_cost_add(s);
    return 0;
#endif
}
