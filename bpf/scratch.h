/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * What the programs of one tick hand on to each other, per CPU: a BPF program has 512 bytes of stack, and a tail call
 * keeps nothing of it. A map's per-CPU value may have 32 KiB at most, hence more than one.
 */

/* Bytes of the data stack that one read brings (3.11 and later): a power of two. More would be read for nothing in
 * short stacks. */
#define WINDOW_BYTES 2048
/* No frame's header is longer. */
#define FRAME_HEADER_MAX 128
/* Objects of one stack that user space may not have yet; the rest has to wait for the next tick. */
#define UNKNOWN_MAX 1024
#define UNKNOWN_CLASS 0x8000
#define SEEN_SLOTS 256
/* Upper bound of what is read of a code object at once. */
#define CODE_HEAD_MAX 256

/* Where a walk is between two programs. */
struct walk {
    u64 frame; /* to look at next; 0: the chain's end */
    u64 hash;
    u64 milestone; /* a frame passed before: meeting it again means that the chain is a ring (Brent) */
    u32 steps;
    u32 reserved;
};

struct scratch {
    struct pyperf_count_key key;
    u64 start_ns;
    u64 thread_pointer;
    struct walk walk;
    u64 window_base; /* address of window[0] in the target */
    u64 window_last; /* a frame at up to window_base + this lies in the window whole */
    u64 content_id;
    u64 code_type;     /* of the process: address of PyCode_Type */
    u64 instance_type; /* of the process (2.7) */
    u32 layout;
    u32 exact;
    u32 cursor; /* place of the program that calls itself: in the frames, or in `unknown` */
    u32 unknown_count;
    u32 unsent;               /* 1: some record did not get through */
    u32 replaced;             /* 1: the walk relied on what a code object was that is no more */
    u64 seen[SEEN_SLOTS];     /* ids met in this tick: recursion shows one code object many times */
    u16 unknown[UNKNOWN_MAX]; /* frames (| UNKNOWN_CLASS) whose code object (or class) is to be sent */
    u8 window[WINDOW_BYTES + FRAME_HEADER_MAX];
    /* The record as it goes to user space. */
    struct pyperf_stack_record stack;
};

/* The frames' addresses in the target, by the index of stack.frames. */
struct addresses {
    u64 code[PYPERF_MAX_FRAMES];
    u64 first_type[PYPERF_MAX_FRAMES]; /* up to 3.10: the class (or cls) of the first argument, 0: none */
};

/* A record of a code object or class while it is put together. */
struct outbox {
    u8 head[CODE_HEAD_MAX];
    struct pyperf_code_record code;
    struct pyperf_class_record type;
};

/* Up to 3.10: does a code object's first argument have the name self or cls? A direct-mapped memory, for asking the
 * code object costs four reads. */
#define FIRST_ARGUMENT_OTHER 1
#define FIRST_ARGUMENT_SELF 2
#define FIRST_ARGUMENT_CLS 3
struct first_argument {
    u64 code;
    u64 code_id; /* of the code object that was asked: another may come to lie at its address */
    u32 pid;
    u32 kind;
};
