"""Does pyperf's memory stay flat? Ten processes of the versions that are there, one of them deep, for ten minutes.

    sudo python3 tests/bench/memory.py --pyperf build/release/tools/pyperf/pyperf [--seconds 600] [--hertz 99]
"""
import argparse
import os
import pathlib
import re
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYENV = pathlib.Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))) / "versions"


def resident_kib(pid):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--hertz", type=int, default=99)
    args = parser.parse_args()
    pythons = [str(path) for path in sorted(PYENV.glob("*/bin/python"))]
    targets = [subprocess.Popen([python, str(HERE / "mostly_idle.py")]) for python in pythons]
    targets.append(subprocess.Popen([pythons[-1], str(HERE / "stack_depth.py"), "900"], preexec_fn=lambda: os.nice(19)))
    profiler = subprocess.Popen([args.pyperf, "--offsets", str(ROOT / "offsets"), "-f", "-F", str(args.hertz),
                                 str(args.seconds)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    memory = []
    step = max(1, args.seconds // 10)
    try:
        while True:
            try:
                profiler.wait(step)
                break
            except subprocess.TimeoutExpired:
                memory.append(resident_kib(profiler.pid) / 1024)
    finally:
        for target in targets:
            target.kill()
            target.wait()
    print(f"{len(targets)} processes; RssAnon of pyperf every {step} s, MiB:", " ".join(f"{mib:.1f}" for mib in memory))
    print(profiler.stderr.read())


main()
