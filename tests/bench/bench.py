"""What the benchmarks share: interpreters, targets, the kernel's figures of a program, verdicts."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/live"))
from failure import Missing  # noqa: E402
from interpreters import interpreter, read_interpreters  # noqa: E402

STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
PERF_EVENT = 7  # BPF_PROG_TYPE_PERF_EVENT

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that targets end and the sysctl is set back


def interpreters():
    """By label (3.9, deb3.14, ...), those of scripts/interpreters that are there."""
    return {label: found for label, found in read_interpreters().items()
            if (found.root / found.python.lstrip("/")).exists()}


def why_missing(label):
    """One line: which interpreter is not there, and what makes it."""
    try:
        interpreter(read_interpreters(), label)
    except Missing as missing:
        return str(missing)
    return f"interpreter {label} is there now"


def command(interpreter, script, *arguments):
    """The script's text is passed on the command line: an interpreter in a chroot does not see the file."""
    return interpreter.command([interpreter.python, "-c", (HERE / script).read_text(), *arguments])


@contextlib.contextmanager
def target(interpreter, depth, cpu):
    """A busy process, pinned to the CPU; gives its pid."""
    process = subprocess.Popen(command(interpreter, "stack_depth.py", str(depth)),
                               preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    try:
        time.sleep(0.7)
        if process.poll() is not None:
            raise SystemExit(f"the target on {interpreter.label} ended at once")
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def kernel_statistics():
    """The kernel counts the runs and the time of BPF programs; afterwards as before."""
    before = STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        yield
    finally:
        STATISTICS.write_text(before)


def run_statistics(pid, fd):
    """(run_time_ns, run_cnt) of the program behind a descriptor of the process; None if it is no tick's program."""
    try:
        text = pathlib.Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
    except OSError:
        return None
    values = dict(re.findall(r"^(\w+):\s*(\w+)$", text, re.M))
    if values.get("prog_type") != str(PERF_EVENT) or "run_cnt" not in values:
        return None
    return int(values["run_time_ns"]), int(values["run_cnt"])


def tick_program(pid):
    """The descriptor of the process's program that runs with each tick: the one that the kernel calls (a tail-called
    program has no runs of its own)."""
    try:
        found = [fd for fd in os.listdir(f"/proc/{pid}/fd") if (run_statistics(pid, fd) or (0, 0))[1] > 0]
    except OSError:
        return None
    if len(found) > 1:
        raise SystemExit(f"process {pid} has {len(found)} programs that run with ticks")
    return found[0] if found else None


def resident_kib(pid):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


class Verdicts:
    """Prints a line for each demand; exit() ends with 1 if one is missed or could not be measured."""

    def __init__(self):
        self.missed = False

    def say(self, met, text):
        self.missed |= not met
        print(f"{'met   ' if met else 'MISSED'} {text}", flush=True)

    def exit(self):
        sys.exit(1 if self.missed else 0)
