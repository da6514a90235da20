"""How many ticks there are: with a frequency, by default, with a period; and what becomes of those of idle CPUs."""
import os
import re
import subprocess

from failure import require

DEFAULT_HZ = 49
SECONDS = 2
IDLE_HZ = 4999  # a clock that is due so soon is not stopped
TRIES = 4
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


def check_idle(run):
    """Counted, or shown with -I. An idle CPU may have its clock stopped: several runs, if need be."""
    def text(*options):
        return subprocess.run(run.pyperf.command("--ebpf", *options), check=True, stdout=subprocess.PIPE).stdout

    require(text() != text("-I"), "-I changes nothing in the BPF text")
    for options in ((), ("-I",)):
        for _ in range(TRIES):
            profile = run.pyperf.profile("-U", "-F", str(IDLE_HZ), *options, "1")
            counted = profile.summary["classes"]["idle"]
            lines = [line for line in profile.lines if SWAPPER.fullmatch(line.comm)]
            shown = sum(line.count for line in lines)
            if options:
                require(counted == 0, f"with -I, {counted} idle ticks are only counted")
                require(all(line.frames == ["[not Python]"] for line in lines), "idle ticks are not Python")
            else:
                require(shown == 0, f"without -I, {shown} idle ticks are shown")
            if counted + shown > 0:
                break
        else:
            print(f"rates: no CPU had ticks while it was idle: what {' '.join(options) or 'no -I'} shows was not seen")


def check(run):
    check_idle(run)
    target = run.start("lives.py", "3600").ready()
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(target.pid, [cpu])
    require_rate(run, cpu, DEFAULT_HZ)
    require_rate(run, cpu, 199, "-F", "199")
    require_rate(run, cpu, 500, "-c", "2000000")
