"""The whole machine: processes that were there, start, end, fork, become another Python, and are very short."""
import re
import time

from failure import require
from interpreters import LABELS

# Python's own at-fork hooks run in the child, which notes nothing.
AT_FORK = re.compile(r".*_after\w*_?fork\w* \(|.*\(.*/(threading|random|weakref|_weakrefset|logging/__init__)\.py:\d+\)")
RECORDER = re.compile(r"(?!run |repeat ).*/truth\.py:\d+\)$")
START_SECONDS = 2.5  # by then pyperf samples
SECONDS = "1.5"
# The other interpreter's layout may not have been met before: its walker is compiled first, on CPUs that are busy.
# That took about 0.4 s on two CPUs with all these targets; a gap of two seconds is more.
COMPILE_SECONDS = 1.2
SUCCESSOR_SECONDS = "3"
SHORT_SCRIPTS = 20


def another(run):
    """Another interpreter in the same root, if there is one."""
    labels = [label for label in LABELS if label in run.found and run.found[label].root == run.interpreter.root]
    return labels[(labels.index(run.interpreter.label) + 1) % len(labels)]


def after_rehearsal(profile, comm):
    """The stacks of a target that was started under the eyes of pyperf, from its rehearsal's end on."""
    for frames, count in profile.stacks(comm):
        if any(frame.startswith("repeat (") for frame in frames) and \
                not any(RECORDER.match(frame) or AT_FORK.match(frame) for frame in frames):
            yield frames, count


def require_set_up(profile, comm, late_share=0.0):
    """late_share: this part may pass while the walker of a layout that was not met before is compiled."""
    stacks = profile.stacks(comm)
    total = sum(count for _, count in stacks)
    late = sum(count for frames, count in stacks if frames in (["[interpreter not set up]"], ["[not Python]"]))
    torn = sum(count for frames, count in stacks if frames == ["[torn Python stack]"])
    # An interpreter takes its time to start.
    require(late <= late_share * total + 30 + 0.02 * total, f"{comm}: {late} of {total} samples before the interpreter was set up")
    require(torn <= 2 + 0.005 * total, f"{comm}: {torn} of {total} samples are torn")


def check(run):
    steady = run.start("lives.py", "3600", comm="live-steady").ready()
    pyperf = run.pyperf.start("-U", "-F", "999")
    time.sleep(START_SECONDS)

    successor = run.stage(another(run))
    program = successor.command("live-after", "lives.py", SUCCESSOR_SECONDS)[-3:]
    started = run.start("lives.py", SECONDS, comm="live-starts")
    forked = run.start("forks.py", SECONDS, comm="live-forks")
    changed = run.start("lives.py", SECONDS, *program, comm="live-before")
    for target in (started, forked, changed):
        target.ready()
    before = changed.known
    changed.ready()
    for target in (started, forked, changed):
        code = target.wait()
        require(code == 0, f"target {target.comm} ended with {code}")
    shorts = [run.start("short.py", comm="live-short") for _ in range(SHORT_SCRIPTS) if not time.sleep(0.05)]
    short_seconds = sum(float(short.process.stdout.read()) for short in shorts)
    require(pyperf.process.poll() is None, "pyperf ended by itself")
    pyperf.interrupt()
    profile = pyperf.finish()

    steady.known.require_all(profile.stacks("live-steady"), samples=1000)
    started.known.require_all(list(after_rehearsal(profile, "live-starts")), samples=100)
    before.require_all(list(after_rehearsal(profile, "live-before")), samples=100)
    changed.known.require_all(list(after_rehearsal(profile, "live-after")), samples=100)
    verdict = forked.known.require_all(list(after_rehearsal(profile, "live-forks")), even=False, samples=200)
    for node, seen in verdict.burns.items():
        require(seen >= 100, f"{seen} samples of {forked.known.path(node)[-1]}")
    for comm in ("live-starts", "live-before", "live-forks"):
        require_set_up(profile, comm)
    # It has not a CPU of its own all the time: as a part of the samples, seconds are seconds on any machine.
    require_set_up(profile, "live-after", late_share=COMPILE_SECONDS / float(SUCCESSOR_SECONDS))

    seen = sum(count for frames, count in profile.stacks("live-short") if "short (" in frames[-1])
    require(seen >= 0.9 * 999 * short_seconds, f"short scripts: {seen / 999:.3f} s seen of {short_seconds:.3f}")
