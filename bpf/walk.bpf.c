/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * The walker of one layout: from the thread state along the frame chain to its end. Members' offsets (OFF_, SIZE_) and
 * rules (RULE_) are constants of the layout, put in front of this text.
 *
 * The verifier sees one bounded loop; each frame it looks at lies at a checked place of a map's value.
 */

/* How long a stack's code objects may go unchecked. Ticks in between are confirmed by the next check. */
#define CHECK_INTERVAL_NS 100000000ULL

/* Steps of one run of the program: it calls itself until the end is seen. The verifier follows each step's branches,
 * and keeps at most 8,192 of them in mind (1,000,000 instructions in all). */
#define WALK_STEPS 192
/* Shims take steps but are no frames; a chain of more is taken for broken. */
#define WALK_STEPS_MAX (2 * PYPERF_MAX_FRAMES)

#define WALK_GOES_ON 0
#define WALK_TORN 1

/* How many frames there are, kept where the verifier does not follow its value: a loop whose ways through it leave
 * different counts behind would have to be followed along each of them. */
ALWAYS_INLINE volatile u32 *frame_count(struct scratch *s) { return &s->stack.frame_count; }

ALWAYS_INLINE void frame_add(struct scratch *s, struct addresses *a, struct walk *w, u64 code, u64 type,
                             s32 instruction, u32 flags)
{
    u32 i = *frame_count(s) & (PYPERF_MAX_FRAMES - 1); /* it is less: masked for the verifier, without a branch */
    *frame_count(s) = i + 1;
    a->code[i] = code;
    s->stack.frames[i].instruction = instruction;
    s->stack.frames[i].flags = flags;
    w->hash = mix(w->hash, code);
    w->hash = mix(w->hash, (u32)instruction | (u64)flags << 32);
#if RULE_frame_chain == FRAME_CHAIN_frame_object
    a->first_type[i] = type;
    if (type)
        w->hash = mix(w->hash, type);
#endif
}

#if RULE_frame_chain == FRAME_CHAIN_frame_object

/* Frames are objects of the heap: one read from the first member used to the last. */
#define FRAME_FIRST OFF_PyFrameObject_f_back
#define FRAME_BYTES (OFF_PyFrameObject_f_lasti + 4 - FRAME_FIRST)

ALWAYS_INLINE u64 first_frame(u64 state) { return target_read_u64(state + OFF_PyThreadState_frame); }

/* One frame. A read that fails gives zeros, and a frame without code is no frame: 0 = torn. */
ALWAYS_INLINE int walk_step(struct scratch *s, struct addresses *a, struct walk *w)
{
    u64 f[(FRAME_BYTES + 7) / 8] = {};
    target_read(f, FRAME_BYTES, (void *)(w->frame + FRAME_FIRST));
    u64 code = *(u64 *)((u8 *)f + OFF_PyFrameObject_f_code - FRAME_FIRST);
    s32 last = *(s32 *)((u8 *)f + OFF_PyFrameObject_f_lasti - FRAME_FIRST);
    if (!code)
        return WALK_TORN;
    u32 flags = PYPERF_FRAME_ENTRY; /* each frame is one C call of the eval loop */
    u64 type = frame_class(s, w->frame, code, &flags);
    frame_add(s, a, w, code, type, last * RULE_instruction_unit, flags);
    w->frame = f[0];
    return WALK_GOES_ON;
}

#else

/* Frames lie one behind another in the thread's data stack, callers at lower addresses: one read below a frame brings
 * many of its callers. It begins in the frame's own page, so it never touches a page that may not be there. */
#define FRAME_BYTES OFF__PyInterpreterFrame_localsplus

#ifdef OFF__PyInterpreterFrame_f_executable
#define OFF_FRAME_CODE OFF__PyInterpreterFrame_f_executable
#else
#define OFF_FRAME_CODE OFF__PyInterpreterFrame_f_code
#endif
#ifdef OFF__PyInterpreterFrame_instr_ptr
#define OFF_FRAME_INSTRUCTION OFF__PyInterpreterFrame_instr_ptr
#else
#define OFF_FRAME_INSTRUCTION OFF__PyInterpreterFrame_prev_instr
#endif

ALWAYS_INLINE u64 first_frame(u64 state)
{
#if RULE_frame_chain == FRAME_CHAIN_cframe
    u64 cframe = target_read_u64(state + OFF_PyThreadState_cframe);
    return cframe ? target_read_u64(cframe + OFF__PyCFrame_current_frame) : 0;
#else
    return target_read_u64(state + OFF_PyThreadState_current_frame);
#endif
}

#if FRAME_BYTES > FRAME_HEADER_MAX
#error "_PyInterpreterFrame is longer than thought"
#endif

/* Bytes are read up to the end of the frame's header, at most WINDOW_BYTES - 8 (so that a mask bounds the number). */
ALWAYS_INLINE void window_load(struct scratch *s, u64 frame)
{
    u64 below = frame & 4095;
    if (below > WINDOW_BYTES - FRAME_BYTES - 8)
        below = WINDOW_BYTES - FRAME_BYTES - 8;
    u64 bytes = (below + FRAME_BYTES) & (WINDOW_BYTES - 1);
    target_read(s->window, bytes, (void *)(frame - below));
    s->window_base = frame - below;
    s->window_last = below;
}

/* One frame. A read that fails gives zeros, and a frame without code is no frame: 0 = torn. */
ALWAYS_INLINE int walk_step(struct scratch *s, struct addresses *a, struct walk *w)
{
    if (w->frame - s->window_base > s->window_last)
        window_load(s, w->frame);
    u64 at = w->frame - s->window_base;
    asm volatile("" : "+r"(at));
    u8 *f = s->window + (at & (WINDOW_BYTES - 1)); /* at is less; so does the verifier see it */
    u64 code = *(u64 *)(f + OFF_FRAME_CODE) & ~(u64)RULE_executable_tag_mask;
    u64 instruction = *(u64 *)(f + OFF_FRAME_INSTRUCTION);
    u8 owner = *(u8 *)(f + OFF__PyInterpreterFrame_owner);
    u64 previous = *(u64 *)(f + OFF__PyInterpreterFrame_previous);
    /* Of the owners of Python frames (thread 0, generator 1, frame object 2) only one is odd: no branch. */
    u32 flags = (owner & 1) * PYPERF_FRAME_GENERATOR;

#ifdef RULE_first_shim_owner
    if (owner >= RULE_first_shim_owner) { /* what a C call of the eval loop puts below its first frame */
        u32 last = (*frame_count(s) - 1) & (PYPERF_MAX_FRAMES - 1); /* no frame yet: a place that is written later */
        s->stack.frames[last].flags |= PYPERF_FRAME_ENTRY;
        w->hash = mix(w->hash, PYPERF_FRAME_ENTRY);
        w->frame = previous;
        return WALK_GOES_ON;
    }
#endif
#ifdef OFF__PyInterpreterFrame_is_entry
    flags |= (*(u8 *)(f + OFF__PyInterpreterFrame_is_entry) & 1) * PYPERF_FRAME_ENTRY;
#endif
    if (!code)
        return WALK_TORN;

    u64 start = code + OFF_PyCodeObject_co_code_adaptive;
#ifdef OFF_PyCodeObject_co_tlbc
    /* Free-threaded: a thread may run its own copy of the bytecode. */
    s32 copy = *(s32 *)(f + OFF__PyInterpreterFrame_tlbc_index);
    if (copy > 0) {
        u64 copies = target_read_u64(code + OFF_PyCodeObject_co_tlbc);
        start = target_read_u64(copies + OFF__PyCodeArray_entries + (u64)copy * 8);
    }
#endif
    frame_add(s, a, w, code, 0, (s32)(instruction - start), flags);
    w->frame = previous;
    return WALK_GOES_ON;
}
#endif

/* What a walk that has ended gives. */
ALWAYS_INLINE void walk_end(void *ctx, struct scratch *s, u32 tick_class)
{
    if (tick_class != PYPERF_TICK_COMPLETE && tick_class != PYPERF_TICK_TRUNCATED) {
        tick_end_without_stack(ctx, s, tick_class);
        tick_cost_add(s);
        return;
    }
    s->stack.truncated = tick_class == PYPERF_TICK_TRUNCATED;
    s->key.tick_class = tick_class;
    s->key.stack_id = s->walk.hash;
    if (!s->exact) {
        struct pyperf_count *count = count_find(&s->key);
        if (count && count->last_check_ns && s->start_ns - count->last_check_ns < CHECK_INTERVAL_NS) {
            count->pending++;
            tick_class_add(tick_class);
            tick_cost_add(s);
            return;
        }
    }
    s->cursor = 0;
    s->replaced = 0;
    go_to_identifier(ctx, s->layout);
    tick_class_add(PYPERF_TICK_LOST); /* cannot be: the four programs of a layout are put in place together */
}

int walk(struct bpf_perf_event_data *ctx)
{
    struct scratch *s = scratch_get();
    if (!s)
        return 0; /* cannot be */
    struct pyperf_process *process = process_find(s->key.pid);
    if (!process) { /* it exited between two programs of this tick: by another thread, on another CPU */
        tick_end_without_stack(ctx, s, PYPERF_TICK_NOT_SET_UP);
        tick_cost_add(s);
        return 0;
    }
    u64 state = thread_state_find(s, process);
    states_record(s, process, state);
    s->walk.frame = state ? first_frame(state) : 0;
    s->walk.hash = s->key.pid;
    s->stack.frame_count = 0;
    s->walk.steps = 0;
    s->walk.milestone = 0;
    s->window_base = 0;
    s->window_last = 0;
    if (!s->walk.frame) {
        u32 tick_class = PYPERF_TICK_NO_PYTHON_FRAMES;
        if (!state && process->interp_head_addr && !target_read_u64(process->interp_head_addr))
            tick_class = PYPERF_TICK_NOT_SET_UP;
        walk_end(ctx, s, tick_class);
        return 0;
    }
    go_to_stepper(ctx, s->layout);
    tick_class_add(PYPERF_TICK_LOST);
    return 0;
}

int steps(struct bpf_perf_event_data *ctx)
{
    struct scratch *s = scratch_get();
    struct addresses *a = addresses_get();
    if (!s || !a)
        return 0; /* cannot be */
    struct walk w = s->walk;
    u32 tick_class = PYPERF_TICK_CLASSES; /* not known yet */
    for (int i = 0; i < WALK_STEPS; i++) {
        if (*frame_count(s) >= PYPERF_MAX_FRAMES) {
            tick_class = PYPERF_TICK_TRUNCATED;
            break;
        }
        if ((i & (i - 1)) == 0)
            w.milestone = w.frame;
        if (walk_step(s, a, &w) != WALK_GOES_ON || w.frame == w.milestone) {
            tick_class = PYPERF_TICK_TORN;
            break;
        }
        if (!w.frame) {
            tick_class = *frame_count(s) ? PYPERF_TICK_COMPLETE : PYPERF_TICK_NO_PYTHON_FRAMES;
            break;
        }
    }
#if RULE_frame_chain != FRAME_CHAIN_frame_object
    /* The root-most frame of a thread was entered from C. One that was not is a generator's, about to be linked or just
     * taken out of the chain, and its callers are missing. */
    u32 last = (*frame_count(s) - 1) & (PYPERF_MAX_FRAMES - 1);
    if (tick_class == PYPERF_TICK_COMPLETE && !(s->stack.frames[last].flags & PYPERF_FRAME_ENTRY))
        tick_class = PYPERF_TICK_TORN;
#endif
    w.steps += WALK_STEPS;
    s->walk = w;
    if (tick_class == PYPERF_TICK_CLASSES) {
        if (w.steps < WALK_STEPS_MAX)
            go_to_stepper(ctx, s->layout);
        tick_class = PYPERF_TICK_TORN;
    }
    walk_end(ctx, s, tick_class);
    return 0;
}
