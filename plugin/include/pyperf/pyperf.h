/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpyperf: Python stacks for BPF tools.
 *
 * The library finds the CPython interpreter in a process, knows its structure layout from the offset database, renders
 * BPF text with that layout's offsets, loads it through libbcc, keeps the table of Python processes current and turns
 * what the programs send into names and lines.
 *
 *   struct pyperf_db *db;
 *   struct pyperf_session *s;
 *   if (pyperf_db_open(NULL, &db) || pyperf_session_open(db, NULL, &s) || pyperf_session_start(s))
 *       fprintf(stderr, "%s\n", pyperf_last_error());
 *   while (running)
 *       pyperf_session_poll(s, 100);
 *   pyperf_session_stop(s);
 *   pyperf_session_samples(s, print_one, NULL);
 *   pyperf_session_close(s);
 *   pyperf_db_close(db);
 *
 * Errors: functions that can fail return 0 or a negative errno; pyperf_last_error() then has one line for a person.
 * Threads: a handle is used by one thread at a time; different handles are independent, and a database may serve
 * several sessions. Strings and arrays that the library gives belong to the handle they came from.
 * Structures begin with their size, so that they can grow: set sz = sizeof(struct ...) and zero the rest (zero is
 * always the default).
 */
#ifndef PYPERF_PYPERF_H
#define PYPERF_PYPERF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PYPERF_API __attribute__((visibility("default")))
#else
#define PYPERF_API
#endif

#define PYPERF_VERSION_MAJOR 0
#define PYPERF_VERSION_MINOR 1
#define PYPERF_VERSION_PATCH 0

/* "0.1.0" of the library that is running, not of the header. */
PYPERF_API const char *pyperf_version_string(void);

/* What went wrong in this thread's last failing call: what, why, what to do; never NULL, valid until the next call. */
PYPERF_API const char *pyperf_last_error(void);

/* ---- the offset database */

struct pyperf_db;

struct pyperf_db_opts {
    size_t sz;
    /* Directories of layout files; later ones win. NULL: the installed one, then /etc/pyperf/offsets.d. */
    const char *const *directories;
    size_t directory_count;
    /* Further directories behind those (`--offsets DIR`). */
    const char *const *more_directories;
    size_t more_directory_count;
};

/* Opens the database. A file that is wrong is left out and reported by pyperf_db_warning(); fails (-ENOENT) when not
 * one layout is found. opts may be NULL. */
PYPERF_API int pyperf_db_open(const struct pyperf_db_opts *opts, struct pyperf_db **out);
PYPERF_API void pyperf_db_close(struct pyperf_db *db);
PYPERF_API size_t pyperf_db_layout_count(const struct pyperf_db *db);
/* The warnings of opening, one line each ("FILE:LINE: ..."); NULL from index on that is not there. */
PYPERF_API const char *pyperf_db_warning(const struct pyperf_db *db, size_t index);

/* ---- a profiling session */

struct pyperf_session;

enum pyperf_log_level { PYPERF_LOG_WARNING = 1, PYPERF_LOG_INFO = 2, PYPERF_LOG_DEBUG = 3 };
typedef void (*pyperf_log_fn)(void *context, enum pyperf_log_level level, const char *message);

enum pyperf_session_flags {
    PYPERF_USER_ONLY = 1u << 0,    /* no kernel stacks */
    PYPERF_KERNEL_ONLY = 1u << 1,  /* no Python stacks; kernel stacks of every process */
    PYPERF_INCLUDE_IDLE = 1u << 2, /* the idle task's ticks as well */
    PYPERF_SHOW_GIL_STATE = 1u << 3,
    PYPERF_SHOW_THREAD_STATE = 1u << 4,
    PYPERF_SHOW_PTHREAD_ID = 1u << 5,
    PYPERF_PERF_BUFFER = 1u << 6, /* use perf buffers even where the kernel has the ring buffer */
};

struct pyperf_session_opts {
    size_t sz;
    uint32_t flags;
    uint32_t sample_hz; /* ticks a second on each CPU; 0 and no period: 49 */
    /* Instead of sample_hz: one tick every so many nanoseconds of CPU time (cpu-clock events). */
    uint64_t sample_period;
    const uint32_t *pids; /* process ids as this process's pid namespace has them; none: all */
    size_t pid_count;
    const uint32_t *tids;
    size_t tid_count;
    int32_t cpu_plus_one;        /* only this CPU, counted from 1; 0: all */
    uint32_t stack_storage_size; /* stacks remembered in the kernel; 0: 16384 */
    uint32_t hash_storage_size;  /* different samples counted in the kernel; 0: 40960 */
    uint32_t ring_bytes;         /* of the record ring, a power of two; 0: 8 MiB */
    const char *cgroup_map;      /* path of a pinned BPF map of cgroup ids, as in bcc's tools */
    const char *mntns_map;       /* ... of mount namespace ids */
    pyperf_log_fn log;
    void *log_context;
    const char *program; /* about to be started, as for execvp(3): the walker of its interpreter is ready in time */
};

/* Makes a session and renders its BPF text; nothing is loaded yet. opts may be NULL. db must outlive it. */
PYPERF_API int pyperf_session_open(struct pyperf_db *db, const struct pyperf_session_opts *opts,
                                   struct pyperf_session **out);
/* The BPF text as it would be compiled: the entry program, then a walker for each layout in use (before start: for
 * each layout of the Python processes that run now). Owned by the session. */
PYPERF_API const char *pyperf_session_text(struct pyperf_session *session);
/* Compiles, loads, looks at all processes and starts the ticks. */
PYPERF_API int pyperf_session_start(struct pyperf_session *session);
/* Waits up to timeout_ms (0: not at all, -1: for ever) for records of the kernel and works them off. Call it often: it
 * also puts new Python processes into the table. Returns 0 also when nothing came; -EINTR after a signal. */
PYPERF_API int pyperf_session_poll(struct pyperf_session *session, int timeout_ms);
/* A descriptor that is readable when pyperf_session_poll() has something to do. */
PYPERF_API int pyperf_session_fd(const struct pyperf_session *session);
/* Stops the ticks and works off what is left. The results stay until the session is closed. */
PYPERF_API int pyperf_session_stop(struct pyperf_session *session);
PYPERF_API void pyperf_session_close(struct pyperf_session *session);

/* ---- results */

/* Every tick that the kernel delivered is in exactly one class. The numbers are part of the interface. */
enum pyperf_class {
    PYPERF_CLASS_COMPLETE = 0,         /* the whole Python stack */
    PYPERF_CLASS_TRUNCATED = 1,        /* its leaf side; there were more frames than the limit */
    PYPERF_CLASS_TORN = 2,             /* a read failed, or the chain made no sense */
    PYPERF_CLASS_NO_PYTHON_FRAMES = 3, /* Python process; this thread runs no Python code */
    PYPERF_CLASS_NOT_SET_UP = 4,       /* interpreter being set up or torn down, or its layout not yet proven */
    PYPERF_CLASS_UNSUPPORTED = 5,      /* refused, see pyperf_sample.reason */
    PYPERF_CLASS_NOT_PYTHON = 6,
    PYPERF_CLASS_FILTERED = 7,
    PYPERF_CLASS_IDLE = 8,
    PYPERF_CLASS_LOST = 9,        /* a buffer or map was full */
    PYPERF_CLASS_STALE_CODE = 10, /* a code object on the stack was replaced; no frame is claimed */
    PYPERF_CLASS_COUNT = 11
};
/* "complete", "truncated", ... as in the summary and its JSON form; NULL for another number. */
PYPERF_API const char *pyperf_class_name(unsigned int tick_class);

enum pyperf_python_frame_flags {
    PYPERF_PYTHON_FRAME_UNKNOWN = 1u << 0, /* nothing is known of its code object: the name is a placeholder */
};
struct pyperf_python_frame {
    /* Qualified name (3.11+); else Class.name or name. UTF-8, as it is: escape it before printing. U+FFFD stands before
     * what is no character: "xe9", a byte that is no UTF-8; "ud83d", a lone surrogate; U+FFFD itself is there twice. */
    const char *name;
    const char *file;    /* co_filename, in the same form; "" when it is not known */
    uint32_t name_bytes; /* of both, without the NUL behind them: they may hold others */
    uint32_t file_bytes;
    int32_t line; /* 1 and up; 0: not known */
    uint32_t flags;
    uint64_t code; /* identifies the code object */
};

struct pyperf_kernel_frame {
    const char *name; /* NULL: no symbol */
    uint64_t address;
};

struct pyperf_sample {
    size_t sz;
    uint64_t count; /* ticks */
    uint32_t pid;   /* of the host's (root) pid namespace; the thread group's id */
    uint32_t tid;
    const char *comm; /* the thread's name, bytes as the kernel has them */
    uint8_t tick_class;
    uint8_t gil_state; /* 0 unless asked for; numbers in pyperf_gil_state_name() and so on */
    uint8_t thread_state;
    uint8_t pthread_id;
    const struct pyperf_python_frame *frames; /* leaf first */
    size_t frame_count;
    const struct pyperf_kernel_frame *kernel; /* leaf first */
    size_t kernel_count;
    uint32_t kernel_missed; /* 1: there was a kernel stack, but its map was full */
    uint32_t reserved;
    const char *reason; /* of PYPERF_CLASS_UNSUPPORTED and NOT_SET_UP; NULL when there is none */
};
typedef int (*pyperf_sample_fn)(void *context, const struct pyperf_sample *sample);

/* Calls fn for each different sample until it returns non-zero, and returns that. Samples and what they point to are
 * valid during the call, the strings of frames as long as the session (and equal ones are the same pointer). Ticks of
 * class FILTERED, IDLE and LOST have no sample. To be called after pyperf_session_stop(). */
PYPERF_API int pyperf_session_samples(struct pyperf_session *session, pyperf_sample_fn fn, void *context);

struct pyperf_totals {
    size_t sz;
    uint64_t ticks;                       /* delivered by the kernel */
    uint64_t classes[PYPERF_CLASS_COUNT]; /* adds up to ticks */
    uint64_t expected_ticks;              /* rate x CPUs x time; 0 with a period */
    uint64_t stacks;                      /* different Python stacks */
    uint64_t code_objects;
    uint64_t python_processes;       /* seen */
    uint64_t frames;                 /* Python frames walked */
    uint64_t runs;                   /* ticks that started a walk ... */
    uint64_t run_ns;                 /* ... and the time they took in the kernel */
    uint64_t stacks_resent;          /* sent again, for the stack map was full */
    uint64_t counts_full;            /* ticks sent one by one, for the counts map was full */
    uint64_t records_dropped;        /* records that found the ring full and came again later */
    uint64_t kernel_stacks_missed;   /* kernel stacks that did not fit */
    uint64_t routes[5];              /* thread states by route: attached, bound, listed, remembered, unproven */
    uint64_t duration_ns;            /* from start to stop */
    uint64_t processes_not_examined; /* whose memory maps this process has no right to read */
    uint64_t stack_records;          /* stacks that were sent, each once unless something was full */
    uint64_t code_records;           /* code objects and classes that were sent, likewise */
};
PYPERF_API int pyperf_session_totals(struct pyperf_session *session, struct pyperf_totals *out);

/* "this thread", "other thread", ...; NULL for another number. */
PYPERF_API const char *pyperf_gil_state_name(unsigned int state);
PYPERF_API const char *pyperf_thread_state_name(unsigned int state);
PYPERF_API const char *pyperf_pthread_id_name(unsigned int state);

/* ---- one process */

struct pyperf_process_info {
    size_t sz;
    uint32_t pid;
    uint32_t supported;   /* 1: a layout is known for it */
    const char *image;    /* the file with the interpreter, as the target sees it */
    const char *build_id; /* hex; "" when it has none */
    const char *version;  /* "3.11.7" */
    const char *layout;   /* "cpython-3.11"; "" when unsupported */
    const char *evidence; /* how the layout was chosen */
    const char *reason;   /* why its stacks are not shown, and which command helps; "" when they are */
    /* 1: the database does not have this build. Its layout is that of the version before, and used only once a running
     * process has proven it; no stack is shown until then. */
    uint32_t candidate;
    uint32_t proven; /* 1: proven by a running process in this session */
};
/* Looks at one process. -ESRCH: no such process; -ENOENT: no CPython in it. Strings live until the next call with db.
 */
PYPERF_API int pyperf_examine(struct pyperf_db *db, uint32_t pid, struct pyperf_process_info *out);

typedef int (*pyperf_process_fn)(void *context, const struct pyperf_process_info *process);
/* Calls fn for each Python process that the session has seen, those that have ended included, by ascending pid, until
 * it returns non-zero, and returns that. What it is given is valid during the call. None with PYPERF_KERNEL_ONLY. */
PYPERF_API int pyperf_session_processes(struct pyperf_session *session, pyperf_process_fn fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
