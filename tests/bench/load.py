"""Is anything lost at 999 Hz on all CPUs, with deep and shallow targets, and does memory stay flat?

    sudo python3 tests/bench/load.py --pyperf build/release/tools/pyperf/pyperf [--seconds 60]

Half of the targets have stacks 900 deep, half 5; one of each two makes new stacks all the time. Prints the
classes of the ticks, what was dropped, and pyperf's memory while it runs; ends with 1 if a tick or record was lost.
"""
import argparse
import json
import subprocess
import tempfile
import time

from bench import HERE, ROOT, Verdicts, interpreters, resident_kib, why_missing

CHANGING = """
import random, sys
sys.setrecursionlimit(5000)
def call(depth):
    if depth > 0:
        if random.random() < .5: call(depth - 1)
        else:
            call(depth - 2)
    else:
        for i in range(3000): pass
while True: call({depth})
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    found = interpreters()
    targets, memory = [], []
    try:
        for label in ("3.8", "3.11", "3.13"):
            if label not in found:
                raise SystemExit(f"load: {why_missing(label)}")
            python = found[label].python
            for depth in (5, 900):
                targets.append(subprocess.Popen([python, str(HERE / "stack_depth.py"), str(depth)]))
                targets.append(subprocess.Popen([python, "-c", CHANGING.format(depth=depth)]))
        time.sleep(1)
        with tempfile.NamedTemporaryFile() as summary:
            profiler = subprocess.Popen([args.pyperf, "--offsets", str(ROOT / "offsets"), "-f", "-F", "999",
                                         "--summary-json", summary.name, str(args.seconds)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            step = max(1, args.seconds // 12)
            while True:
                try:
                    _, complaint = profiler.communicate(timeout=step)
                    break
                except subprocess.TimeoutExpired:
                    memory.append(resident_kib(profiler.pid))
            if profiler.returncode != 0:
                raise SystemExit(f"load: pyperf failed: {complaint}")
            result = json.load(open(summary.name))
    finally:
        for target in targets:
            target.kill()
            target.wait()
    print(json.dumps({key: result[key] for key in result if key != "processes"}, indent=1))
    print("RssAnon, MiB:", " ".join(f"{kib / 1024:.0f}" for kib in memory))

    verdicts = Verdicts()
    limits = result["limits"]
    verdicts.say(result["classes"]["complete"] > 0, f"complete stacks: {result['classes']['complete']}, wanted any")
    for what, number in (("ticks lost", result["classes"]["lost"]), ("records dropped", limits["records_dropped"]),
                         ("counts without room", limits["counts_full"]),
                         ("kernel stacks missed", limits["kernel_stacks_missed"])):
        verdicts.say(number == 0, f"{what}: {number}, wanted 0")
    verdicts.exit()


main()
