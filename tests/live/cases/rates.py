"""How many ticks there are: with a frequency, by default, with a period; and what becomes of those of idle CPUs."""
import os
import pathlib
import re
import time

from failure import Missing, require

DEFAULT_HZ = 49
SECONDS = 2
IDLE_HZ = 499
TRIES = 5
IDLE_SECONDS = 0.3  # of all CPUs, in a run of a second: else it says nothing about idle ticks
SWAPPER = re.compile(r"swapper/\d+")


def require_rate(run, cpu, hz, *options):
    """On a CPU that is never idle there are so many ticks a second."""
    profile = run.pyperf.profile("-U", "-C", str(cpu), *options, str(SECONDS))
    ticks, seconds = profile.summary["ticks"], profile.summary["duration_seconds"]
    said = f"{' '.join(options) or 'by default'}: {ticks} ticks in {seconds} s, {hz * seconds:.0f} expected"
    require(SECONDS - 0.1 <= seconds <= SECONDS + 1, said)
    require(abs(ticks - hz * seconds) <= 3 + 0.1 * hz * seconds, said)
    expected = profile.summary["expected_ticks"]
    if "-c" in options:
        require(expected == 0, f"{said}: a rate of {expected} ticks is claimed")
    else:
        require(abs(expected - hz * seconds) <= 1 + 0.005 * hz * seconds, f"{said}: the summary expects {expected}")


def idle_cpu_seconds():
    """Of all CPUs, since boot."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def idle_run(run, *options):
    """A run in which CPUs were idle."""
    for _ in range(TRIES):
        pyperf = run.pyperf.start("-U", "-F", str(IDLE_HZ), *options, "1")
        begun = time.monotonic()
        while pyperf.process.poll() is None and "Sampling" not in pyperf.err.read_text():
            require(time.monotonic() < begun + 30, "no header")
            time.sleep(0.02)
        before = idle_cpu_seconds()
        time.sleep(0.8)
        idle = idle_cpu_seconds() - before
        profile = pyperf.finish()
        if idle >= IDLE_SECONDS:
            return profile
    raise Missing("an idle CPU")


def check_idle(run):
    profile = idle_run(run)
    classes = profile.summary["classes"]
    require(classes["idle"] >= 30, f"idle CPUs had no ticks: {classes}")
    require(not [line for line in profile.lines if SWAPPER.match(line.comm)], "idle ticks are shown without -I")

    profile = idle_run(run, "-I")
    classes = profile.summary["classes"]
    require(classes["idle"] == 0, f"with -I: {classes}")
    lines = [line for line in profile.lines if SWAPPER.match(line.comm)]
    shown = sum(line.count for line in lines)
    require(all(line.frames == ["[not Python]"] for line in lines), "idle ticks are not Python")
    require(shown >= 30, f"with -I: {shown} idle ticks are shown, {classes}")


def check(run):
    check_idle(run)
    target = run.start("lives.py", "3600").ready()
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(target.pid, [cpu])
    require_rate(run, cpu, DEFAULT_HZ)
    require_rate(run, cpu, 199, "-F", "199")
    require_rate(run, cpu, 500, "-c", "2000000")
