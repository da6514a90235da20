/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/*
 * What crosses between the BPF programs and user space, declared once for both. Fixed-width types only, no padding
 * that is not named. The BPF text gets this file in front of it, as it is.
 */
#ifndef PYPERF_RECORDS_H
#define PYPERF_RECORDS_H

#ifndef PYPERF_BPF
#include <linux/types.h>
#endif

#define PYPERF_COMM_LEN 16
#define PYPERF_MAX_FRAMES 1024

/* Every tick that the kernel delivers ends in exactly one of these. */
enum pyperf_tick_class {
    PYPERF_TICK_COMPLETE = 0,         /* the walk reached the end of the chain */
    PYPERF_TICK_TRUNCATED = 1,        /* more frames than PYPERF_MAX_FRAMES: the leaf side is there */
    PYPERF_TICK_TORN = 2,             /* a read failed or the chain made no sense */
    PYPERF_TICK_NO_PYTHON_FRAMES = 3, /* a Python process, but this thread runs no Python code */
    PYPERF_TICK_NOT_SET_UP = 4,       /* the interpreter is being set up, torn down, or not yet proven */
    PYPERF_TICK_UNSUPPORTED = 5,      /* an interpreter without a layout that could be proven */
    PYPERF_TICK_NOT_PYTHON = 6,
    PYPERF_TICK_FILTERED = 7,    /* by the user's own options */
    PYPERF_TICK_IDLE = 8,        /* the idle task (pid 0), unless asked for */
    PYPERF_TICK_LOST = 9,        /* a buffer or map was full */
    PYPERF_TICK_STALE_CODE = 10, /* a code object was replaced since its last check */
    PYPERF_TICK_CLASSES = 11,
};

/* Counters besides the classes (per-CPU array `counters`; index = class, then these). */
enum pyperf_counter {
    PYPERF_COUNTER_DELIVERED = PYPERF_TICK_CLASSES, /* ticks that reached the entry program */
    PYPERF_COUNTER_RUN_NS,                          /* time in the programs, for ticks that started a walk */
    PYPERF_COUNTER_RUNS,                            /* how many those were */
    PYPERF_COUNTER_FRAMES,                          /* Python frames walked in them */
    PYPERF_COUNTER_STACKS_SENT,
    PYPERF_COUNTER_STACKS_RESENT_FULL, /* known stacks sent again, for the map of sent ones is full */
    PYPERF_COUNTER_CODES_SENT,
    PYPERF_COUNTER_RECORDS_DROPPED, /* ring full: the record is sent again with the next tick */
    PYPERF_COUNTER_COUNTS_FULL,     /* counts map full: the tick was sent as a record */
    PYPERF_COUNTER_ROUTE_CURRENT,   /* thread state found: the attached one, proven */
    PYPERF_COUNTER_ROUTE_BOUND,     /* ... the one bound to the thread */
    PYPERF_COUNTER_ROUTE_LIST,      /* ... by the interpreters' lists */
    PYPERF_COUNTER_ROUTE_CACHE,     /* ... remembered from an earlier tick, proven again */
    PYPERF_COUNTER_ROUTE_UNPROVEN,  /* a thread state that is not this thread's: not used */
    PYPERF_COUNTERS,
};

/* The seed's states, by the same numbers. */
enum pyperf_gil_state {
    PYPERF_GIL_NO_INFO = 0,
    PYPERF_GIL_ERROR = 1,
    PYPERF_GIL_UNINITIALIZED = 2,
    PYPERF_GIL_NOT_LOCKED = 3,
    PYPERF_GIL_THIS_THREAD = 4,
    PYPERF_GIL_GLOBAL_CURRENT_THREAD = 5,
    PYPERF_GIL_OTHER_THREAD = 6,
    PYPERF_GIL_NULL = 7,
    PYPERF_GIL_DISABLED = 8, /* free-threaded build running without it */
};
enum pyperf_thread_state_match {
    PYPERF_THREAD_STATE_UNKNOWN = 0,
    PYPERF_THREAD_STATE_MATCH = 1,
    PYPERF_THREAD_STATE_MISMATCH = 2,
    PYPERF_THREAD_STATE_THIS_THREAD_NULL = 3,
    PYPERF_THREAD_STATE_GLOBAL_CURRENT_THREAD_NULL = 4,
    PYPERF_THREAD_STATE_BOTH_NULL = 5,
};
enum pyperf_pthread_id_match {
    PYPERF_PTHREAD_ID_UNKNOWN = 0,
    PYPERF_PTHREAD_ID_MATCH = 1,
    PYPERF_PTHREAD_ID_MISMATCH = 2,
    PYPERF_PTHREAD_ID_THREAD_STATE_NULL = 3,
    PYPERF_PTHREAD_ID_NULL = 4,
    PYPERF_PTHREAD_ID_ERROR = 5,
};

/* How a process's entry is to be used. */
enum pyperf_process_state {
    PYPERF_PROCESS_READY = 1,       /* walk it with `layout` */
    PYPERF_PROCESS_NOT_SET_UP = 2,  /* known to be Python, not yet proven */
    PYPERF_PROCESS_UNSUPPORTED = 3, /* refused; user space knows the reason */
};

/* Where a variable of the C library's or the interpreter's thread-local storage is found from the thread pointer. */
enum pyperf_slot_kind {
    PYPERF_SLOT_NONE = 0,
    PYPERF_SLOT_TP = 1,  /* at thread pointer + offset (local-exec, or a module present at program start) */
    PYPERF_SLOT_DTV = 2, /* through the thread's DTV: module id is read at module_addr, then + offset */
};
struct pyperf_tls_slot {
    __u64 module_addr; /* PYPERF_SLOT_DTV: address in the target of the word with the module id */
    __s64 offset;
    __u32 kind;
    __u32 reserved;
};

/* The C library's own layout, for pthread keys and the DTV. */
struct pyperf_libc {
    __s32 key_block;       /* glibc: offset from the thread pointer of the first block of key slots */
    __s32 key_table;       /* glibc: ... of the table of further blocks, for keys above 31; musl: of `tsd` */
    __u32 key_indirect;    /* 1 (musl): value is at *(tp + key_table) + 8 * key */
    __s32 dtv;             /* offset from the thread pointer of the pointer to the DTV */
    __u32 dtv_entry_bytes; /* 16 glibc, 8 musl */
    __s32 thread_id_delta; /* PyThreadState.thread_id == thread pointer + this */
};

/* Map `processes`: by process id (tgid), as the host's root namespace numbers it. 0 in an address: not there. */
struct pyperf_process {
    __u64 start_time_ticks; /* of the group leader since boot, in 1/100 s as in /proc/PID/stat: is it this process? */
    __u64 runtime_addr;     /* _PyRuntime (3.7 and later) */
    __u64 current_addr;     /* address of the pointer to the attached thread state (2.7 - 3.11) */
    __u64 key_addr;         /* address of the int that holds the thread key (2.7 - 3.14) */
    __u64 key_list_addr;    /* 2.7: address of keyhead */
    __u64 interp_head_addr; /* address of the pointer to the first interpreter state */
    __u64 gil_locked_addr;  /* 3.6: gil_locked and gil_last_holder; later versions have them in the layout */
    __u64 gil_last_holder_addr;
    __u64 code_type_addr;               /* PyCode_Type: every code object's ob_type */
    __u64 instance_type_addr;           /* 2.7: PyInstance_Type, of instances of old-style classes */
    struct pyperf_tls_slot current_tls; /* _Py_tss_tstate (3.12+) */
    struct pyperf_tls_slot bound_tls;   /* _Py_tss_gilstate (3.15+) */
    struct pyperf_libc libc;
    __u32 layout; /* index in the program arrays */
    __u32 state;  /* enum pyperf_process_state */
    __u32 exact;  /* 1: code objects of this process get replaced; identify each frame */
    __u32 reserved;
};

/* Map `counts`. One thread runs on one CPU at a time, so an entry has one writer (the idle tasks' have more). */
struct pyperf_count_key {
    __u64 stack_id; /* of the frames' addresses (or their content, in a process marked exact); 0: no Python stack */
    __u32 pid;
    __u32 tid;
    __s32 kernel_stack; /* id in `kernel_stacks`; negative: none (-EFAULT) or not had (other errno) */
    __u8 tick_class;
    __u8 gil_state;
    __u8 thread_state;
    __u8 pthread_id;
    char comm[PYPERF_COMM_LEN];
};
struct pyperf_count {
    __u64 confirmed;     /* ticks whose code objects were checked at or after them */
    __u64 pending;       /* ticks since the last check */
    __u64 stale;         /* ticks that a later check could not confirm */
    __u64 content_id;    /* pyperf_stack_record.content_id of the stack that was counted; 0: none */
    __u64 last_check_ns; /* 0: check with the next tick */
};

/* Records in the ring. Each begins with its type; its size is the ring's. */
enum pyperf_record_type {
    PYPERF_RECORD_STACK = 1,
    PYPERF_RECORD_CODE = 2,
    PYPERF_RECORD_CLASS = 3,
    PYPERF_RECORD_TICK = 4, /* struct pyperf_tick_record: a tick that did not fit into `counts` */
};

struct pyperf_frame {
    __u64 code_id;     /* pyperf_code_record.code_id */
    __u64 class_id;    /* pyperf_class_record.class_id, or 0 */
    __s32 instruction; /* byte offset in the code object's bytecode; negative: not started */
    __u32 flags;
};
#define PYPERF_FRAME_ENTRY 1     /* the outermost frame that one C call of the eval loop runs */
#define PYPERF_FRAME_GENERATOR 2 /* 3.11+: the frame lies in a generator or coroutine */
#define PYPERF_FRAME_CLS 4       /* up to 3.10: class_id is the first argument itself (cls), not its type (self) */

struct pyperf_stack_record {
    __u32 type;
    __u32 pid;
    __u64 content_id; /* of all code objects, classes and instructions */
    __u32 frame_count;
    __u32 truncated;
    struct pyperf_frame frames[PYPERF_MAX_FRAMES]; /* leaf first; frame_count of them are there */
};

/* A piece of a record's data: what was read of an object in the target. */
struct pyperf_text {
    __u64 address; /* of the str or bytes object (of the characters for a class's tp_name) */
    __u64 bytes;   /* that it has; more than `copied`: the rest is still in the target */
    __u32 copied;  /* bytes of it in this record */
    __u32 state;   /* unicode: the word with kind and flags; else 0 */
    __u32 error;   /* 1: a read failed */
    __u32 reserved;
};

#define PYPERF_NAME_MAX 512
#define PYPERF_FILE_MAX 1024
#define PYPERF_LINES_MAX 8192
#define PYPERF_CODE_DATA_MAX (2 * PYPERF_NAME_MAX + PYPERF_FILE_MAX + PYPERF_LINES_MAX)

struct pyperf_code_record {
    __u32 type;
    __u32 pid;
    __u64 code_id;
    __u64 code_addr;
    __s32 first_line;
    __u32 flags;           /* co_flags */
    __u32 layout;          /* index, as in pyperf_process */
    __u32 version;         /* co_version, 0 where there is none */
    __u32 first_traceable; /* 3.11+: code units before it belong to no line; a frame there has not started */
    __u32 reserved;
    struct pyperf_text name;
    struct pyperf_text qualname;
    struct pyperf_text filename;
    struct pyperf_text lines;
    __u8 data[PYPERF_CODE_DATA_MAX]; /* name, qualname, filename, lines, one behind another, `copied` bytes each */
};

struct pyperf_class_record {
    __u32 type;
    __u32 pid;
    __u64 class_id;
    __u64 class_addr;
    struct pyperf_text name; /* tp_name: UTF-8, without the NUL */
    __u8 data[PYPERF_NAME_MAX];
};

struct pyperf_tick_record {
    __u32 type;
    __u32 reserved;
    __u64 content_id;
    struct pyperf_count_key key;
};

#endif
