"""60/30/10 within three standard errors, with free CPUs and with a busy loop on every CPU; sleepers get nothing."""
import math
import os
import subprocess

from failure import require
from target import die_with_parent

SHARES = {"sixty": 0.6, "thirty": 0.3, "ten": 0.1}
BUSY_LOOP = ["sh", "-c", "while :; do :; done"]


def require_shares(run, target, beside):
    before = target.cpu_seconds()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "4")
    after = target.cpu_seconds()
    counts = dict.fromkeys(SHARES, 0)
    asleep = dict(sleep=0, nap=0)
    total = 0
    for frames, count in profile.stacks():
        total += count
        for frame in frames:
            name = frame.split(" (")[0]
            if name in counts:
                counts[name] += count
            if name in asleep:
                asleep[name] += count
    burnt = sum(counts.values())
    require(burnt >= 300, f"{beside}: {burnt} samples")
    require(burnt >= 0.95 * total, f"{beside}: {total - burnt} of {total} samples elsewhere")
    for name, share in SHARES.items():
        error = math.sqrt(share * (1 - share) / burnt)
        require(abs(counts[name] / burnt - share) <= 3 * error,
                f"{beside}: {name}: {100 * counts[name] / burnt:.2f} % of {burnt} samples, "
                f"standard error {100 * error:.2f}")
    require(asleep["sleep"] == 0, f"{beside}: {asleep} of {total} samples are of threads that sleep")
    require(asleep["nap"] <= 0.005 * total, f"{beside}: {asleep} of {total} samples are of threads that sleep")
    # CPU time from the kernel's own account, over a time that is a little longer than that of the samples.
    sampled = total / 999
    used = (after - before) * min(1, profile.summary["duration_seconds"] / profile.seconds)
    require(abs(sampled - used) <= 0.15 * used + 0.1, f"{beside}: {sampled:.2f} s of CPU seen, {used:.2f} s used")


def check(run):
    target = run.start("shares.py").ready()
    require_shares(run, target, "alone")
    loops = [subprocess.Popen(BUSY_LOOP, preexec_fn=die_with_parent) for _ in range(os.cpu_count())]
    try:
        require_shares(run, target, "busy loops beside")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
