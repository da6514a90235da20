/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* How a tick ends: it is counted, once, in its class. Every path through the programs comes here. */

ALWAYS_INLINE u64 target_read_u64(u64 address)
{
    u64 value = 0;
    target_read(&value, sizeof(value), (void *)address);
    return value;
}

ALWAYS_INLINE void tick_class_add(u32 tick_class) { counter_add(tick_class, 1); }

/* The time the programs took: from the entry program's start, through all its tail calls, to here. */
ALWAYS_INLINE void tick_cost_add(struct scratch *s)
{
    counter_add(PYPERF_COUNTER_RUN_NS, bpf_ktime_get_ns() - s->start_ns);
    counter_add(PYPERF_COUNTER_RUNS, 1);
    counter_add(PYPERF_COUNTER_FRAMES, s->stack.frame_count);
}

/* A new entry in `counts`, or, when that is full, a record of its own: nothing is lost as long as the ring has room. */
ALWAYS_INLINE void tick_count_new(void *ctx, struct scratch *s, u64 content_id, u64 last_check_ns)
{
    struct pyperf_count fresh = {};
    fresh.confirmed = 1;
    fresh.content_id = content_id;
    fresh.last_check_ns = last_check_ns;
    if (count_put(&s->key, &fresh) == 0) {
        tick_class_add(s->key.tick_class);
        return;
    }
    struct pyperf_count *other = count_find(&s->key); /* another CPU was first (idle tasks have one key) */
    if (other) {
        __sync_fetch_and_add(&other->confirmed, 1);
        tick_class_add(s->key.tick_class);
        return;
    }
    struct pyperf_tick_record record = {};
    record.type = PYPERF_RECORD_TICK;
    record.content_id = content_id;
    record.key = s->key;
    counter_add(PYPERF_COUNTER_COUNTS_FULL, 1);
    if (record_send(ctx, &record, sizeof(record)) == 0) {
        tick_class_add(s->key.tick_class);
        return;
    }
    counter_add(PYPERF_COUNTER_RECORDS_DROPPED, 1);
    tick_class_add(PYPERF_TICK_LOST);
}

/* Counts a tick that claims no Python frame. */
ALWAYS_INLINE void tick_end_without_stack(void *ctx, struct scratch *s, u32 tick_class)
{
    s->key.stack_id = 0;
    s->key.tick_class = tick_class;
    struct pyperf_count *count = count_find(&s->key);
    if (count) {
        __sync_fetch_and_add(&count->confirmed, 1);
        tick_class_add(tick_class);
    } else {
        tick_count_new(ctx, s, 0, 0);
    }
}
