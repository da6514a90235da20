// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <signal.h>

#include <initializer_list>

namespace pyperf::tool {
namespace {

volatile sig_atomic_t caught = 0;

void note(int number) {
    caught = number;
}

}  // namespace

void catch_signals() {
    struct sigaction old {};
    struct sigaction action {};
    action.sa_handler = note;  // without SA_RESTART: the wait for records ends
    for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
    if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

int caught_signal() {
    return caught;
}

void ignore_interrupts() {
    signal(SIGINT, SIG_IGN);
}

}  // namespace pyperf::tool
