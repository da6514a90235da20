/* SPDX-License-Identifier: Apache-2.0 */
/* A tool as others would write it, in C and against the installed library alone: counts complete Python stacks of one
 * process and prints one of them. consumer PID SECONDS */
#include <errno.h>
#include <pyperf/pyperf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int print_one(void *context, const struct pyperf_sample *sample)
{
    unsigned long *complete = context;
    if (sample->frame_count == 0)
        return 0;
    if (*complete == 0)
        for (size_t i = 0; i < sample->frame_count; i++)
            printf("%s (%s:%d)\n", sample->frames[i].name, sample->frames[i].file, sample->frames[i].line);
    *complete += sample->count;
    return 0;
}

static int fail(const char *what)
{
    fprintf(stderr, "consumer: %s: %s\n", what, pyperf_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    struct pyperf_db *db = NULL;
    struct pyperf_session *session = NULL;
    struct pyperf_session_opts options = {.sz = sizeof(options)};
    unsigned long complete = 0;
    if (argc != 3)
        return 2;
    const uint32_t pid = (uint32_t)atoi(argv[1]);
    if (pyperf_db_open(NULL, &db))
        return fail("database");
    options.pids = &pid;
    options.pid_count = 1;
    options.sample_hz = 199;
    if (pyperf_session_open(db, &options, &session) || pyperf_session_start(session))
        return fail("session");
    const time_t end = time(NULL) + atoi(argv[2]);
    while (time(NULL) < end)
        if (pyperf_session_poll(session, 100) && errno != EINTR)
            return fail("poll");
    if (pyperf_session_stop(session) || pyperf_session_samples(session, print_one, &complete))
        return fail("samples");
    pyperf_session_close(session);
    pyperf_db_close(db);
    printf("%lu complete\n", complete);
    return complete ? 0 : 1;
}
