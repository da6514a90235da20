"""Is anything lost at 999 Hz on all CPUs, with deep and shallow targets, and does memory stay flat?

    sudo python3 tests/bench/load.py --pyperf build/release/tools/pyperf/pyperf [--seconds 60]

Half of the targets have stacks 900 deep, half 5; one of each two makes new stacks all the time. Prints the
classes of the ticks, what was dropped, and pyperf's memory while it runs.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYENV = pathlib.Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))) / "versions"

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


def resident_kib(pid):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    targets = []
    for minor in ("3.8", "3.11", "3.13"):
        python = str(sorted(PYENV.glob(f"{minor}.*/bin/python"))[-1])
        for depth in (5, 900):
            targets.append(subprocess.Popen([python, str(HERE / "stack_depth.py"), str(depth)]))
            targets.append(subprocess.Popen([python, "-c", CHANGING.format(depth=depth)]))
    time.sleep(1)
    memory = []
    with tempfile.NamedTemporaryFile() as summary:
        profiler = subprocess.Popen([args.pyperf, "--offsets", str(ROOT / "offsets"), "-f", "-F", "999",
                                     "--summary-json", summary.name, str(args.seconds)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        step = max(1, args.seconds // 12)
        while True:
            try:
                profiler.wait(step)
                break
            except subprocess.TimeoutExpired:
                memory.append(resident_kib(profiler.pid))
        result = json.load(open(summary.name))
    for target in targets:
        target.kill()
        target.wait()
    print(json.dumps({key: result[key] for key in result if key != "processes"}, indent=1))
    print("RssAnon, MiB:", " ".join(f"{kib / 1024:.0f}" for kib in memory))


main()
