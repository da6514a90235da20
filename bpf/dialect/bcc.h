/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * How the walker's text reaches its maps when BCC compiles it. BCC rewrites calls such as map.lookup() in plain
 * functions only, not inside macros; so each access is a function, and the walker's text knows only these.
 *
 * The first module of a session defines the maps (PYPERF_DEFINE_MAPS); later ones use the same by name.
 */
#ifdef PYPERF_DEFINE_MAPS
#define SESSION_MAP(kind, key, leaf, name, size) BPF_TABLE_SHARED(kind, key, leaf, name, size)
#else
#define SESSION_MAP(kind, key, leaf, name, size) BPF_TABLE("extern", key, leaf, name, size)
#endif

SESSION_MAP("percpu_array", int, struct scratch, scratch, 1);
SESSION_MAP("percpu_array", int, struct addresses, addresses, 1);
SESSION_MAP("percpu_array", int, struct outbox, outbox, 1);
SESSION_MAP("percpu_array", int, u64, counters, PYPERF_COUNTERS);
SESSION_MAP("hash", u32, struct pyperf_process, processes, PYPERF_PROCESSES);
SESSION_MAP("hash", struct pyperf_count_key, struct pyperf_count, counts, PYPERF_COUNTS);
SESSION_MAP("hash", u64, u32, stacks, PYPERF_STACKS);
SESSION_MAP("hash", u64, u32, objects, PYPERF_OBJECTS);
SESSION_MAP("hash", u32, u64, threads, PYPERF_THREADS);
SESSION_MAP("percpu_array", int, struct first_argument, first_arguments, PYPERF_FIRST_ARGUMENTS);
SESSION_MAP("stacktrace", int, struct bpf_stacktrace, kernel_stacks, PYPERF_KERNEL_STACKS);
SESSION_MAP("prog", u32, u32, walkers, PYPERF_LAYOUTS);
SESSION_MAP("prog", u32, u32, steppers, PYPERF_LAYOUTS);
SESSION_MAP("prog", u32, u32, identifiers, PYPERF_LAYOUTS);
SESSION_MAP("prog", u32, u32, collectors, PYPERF_LAYOUTS);
SESSION_MAP("prog", u32, u32, senders, PYPERF_LAYOUTS);

#ifdef PYPERF_PERF_BUFFER
struct records_table_t {
    int key;
    u32 leaf;
    int (*perf_submit)(void *, void *, u32);
    int (*perf_submit_skb)(void *, u32, void *, u32);
    u32 max_entries;
};
#define RECORDS_KIND "maps/perf_output"
#else
struct records_table_t {
    int key;
    u32 leaf;
    int (*ringbuf_output)(void *, u64, u64);
    void *(*ringbuf_reserve)(u64);
    void (*ringbuf_discard)(void *, u64);
    void (*ringbuf_submit)(void *, u64);
    u32 max_entries;
};
#define RECORDS_KIND "maps/ringbuf"
#endif

#ifdef PYPERF_DEFINE_MAPS
__attribute__((section(RECORDS_KIND))) struct records_table_t records = {.max_entries = PYPERF_RING_BYTES};
__attribute__((section("maps/shared"))) struct records_table_t __records;
#else
__attribute__((section("maps/extern"))) struct records_table_t records = {.max_entries = PYPERF_RING_BYTES};
#endif

#ifdef PYPERF_CGROUP_MAP
BPF_TABLE_PINNED("hash", u64, u64, cgroup_filter, 1024, PYPERF_CGROUP_MAP);
#endif
#ifdef PYPERF_MNTNS_MAP
BPF_TABLE_PINNED("hash", u64, u32, mntns_filter, 1024, PYPERF_MNTNS_MAP);
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Reads of the target's and the kernel's memory. By number, not by libbcc's names for them: at each call of those it
 * reads all of /proc/kallsyms to see whether the kernel has the function, which took half of the time to compile.
 * A kernel with bounded loops (5.3) but without these (before 5.5) refuses the program when it is loaded. */
static int (*const target_read)(void *to, u32 bytes, const void *from) = (void *)BPF_FUNC_probe_read_user;
static int (*const target_read_string)(void *to, u32 bytes, const void *from) = (void *)BPF_FUNC_probe_read_user_str;
static int (*const kernel_read)(void *to, u32 bytes, const void *from) = (void *)BPF_FUNC_probe_read_kernel;

ALWAYS_INLINE struct scratch *scratch_get(void)
{
    int zero = 0;
    return scratch.lookup(&zero);
}

ALWAYS_INLINE struct addresses *addresses_get(void)
{
    int zero = 0;
    return addresses.lookup(&zero);
}

ALWAYS_INLINE struct outbox *outbox_get(void)
{
    int zero = 0;
    return outbox.lookup(&zero);
}

ALWAYS_INLINE void counter_add(int index, u64 amount)
{
    u64 *value = counters.lookup(&index);
    if (value)
        *value += amount;
}

ALWAYS_INLINE struct pyperf_process *process_find(u32 pid) { return processes.lookup(&pid); }

ALWAYS_INLINE int process_put(u32 pid, struct pyperf_process *process) { return processes.update(&pid, process); }

ALWAYS_INLINE int process_drop(u32 pid) { return processes.delete(&pid); }

ALWAYS_INLINE struct pyperf_count *count_find(struct pyperf_count_key *key) { return counts.lookup(key); }

ALWAYS_INLINE int count_put(struct pyperf_count_key *key, struct pyperf_count *count)
{
    return counts.insert(key, count);
}

ALWAYS_INLINE int stack_was_sent(u64 content_id) { return stacks.lookup(&content_id) != 0; }

ALWAYS_INLINE int stack_mark_sent(u64 content_id)
{
    u32 one = 1;
    return stacks.update(&content_id, &one);
}

ALWAYS_INLINE int object_was_sent(u64 id) { return objects.lookup(&id) != 0; }

ALWAYS_INLINE int object_mark_sent(u64 id)
{
    u32 one = 1;
    return objects.update(&id, &one);
}

ALWAYS_INLINE u64 thread_recall(u32 tid)
{
    u64 *state = threads.lookup(&tid);
    return state ? *state : 0;
}

ALWAYS_INLINE void thread_remember(u32 tid, u64 state) { threads.update(&tid, &state); }

ALWAYS_INLINE void thread_forget(u32 tid) { threads.delete(&tid); }

ALWAYS_INLINE struct first_argument *first_argument_slot(int index) { return first_arguments.lookup(&index); }

ALWAYS_INLINE int kernel_stack_id(void *ctx) { return kernel_stacks.get_stackid(ctx, 0); }

ALWAYS_INLINE int record_send(void *ctx, void *record, u64 bytes)
{
#ifdef PYPERF_PERF_BUFFER
    return records.perf_submit(ctx, record, bytes);
#else
    return records.ringbuf_output(record, bytes, 0);
#endif
}

ALWAYS_INLINE void go_to_walker(void *ctx, u32 layout) { walkers.call(ctx, layout); }
ALWAYS_INLINE void go_to_stepper(void *ctx, u32 layout) { steppers.call(ctx, layout); }
ALWAYS_INLINE void go_to_identifier(void *ctx, u32 layout) { identifiers.call(ctx, layout); }
ALWAYS_INLINE void go_to_collector(void *ctx, u32 layout) { collectors.call(ctx, layout); }
ALWAYS_INLINE void go_to_sender(void *ctx, u32 layout) { senders.call(ctx, layout); }

#ifdef PYPERF_CGROUP_MAP
ALWAYS_INLINE int cgroup_passes(void)
{
    u64 id = bpf_get_current_cgroup_id();
    return cgroup_filter.lookup(&id) != 0;
}
#endif
#ifdef PYPERF_MNTNS_MAP
ALWAYS_INLINE int mntns_passes(u64 id) { return mntns_filter.lookup(&id) != 0; }
#endif
