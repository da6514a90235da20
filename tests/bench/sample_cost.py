"""What a sample costs in the kernel: pyperf, and the program it starts from, one after the other in one run.

    sudo /usr/bin/python3 tests/bench/sample_cost.py --pyperf build/release/tools/pyperf/pyperf --seed FILE

Prints nanoseconds a sample and a frame at several depths, and the ratios. Timings of one machine on one day mean little;
the ratios hold. Without --seed: pyperf alone.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYENV = pathlib.Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))) / "versions"


def interpreter(minor):
    found = sorted(PYENV.glob(f"{minor}.*/bin/python"))
    return str(found[-1]) if found else None


class Target:
    def __init__(self, python, depth):
        self.process = subprocess.Popen([python, str(HERE / "stack_depth.py"), str(depth)])
        time.sleep(0.7)

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def pyperf_cost(pyperf, pid, hertz, seconds):
    with tempfile.NamedTemporaryFile() as summary:
        subprocess.run([pyperf, "--offsets", str(ROOT / "offsets"), "-U", "-f", "-F", str(hertz), "-p", str(pid),
                        "--summary-json", summary.name, str(seconds)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return json.load(open(summary.name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seed", type=pathlib.Path, help="the file with the program pyperf starts from")
    parser.add_argument("--hertz", type=int, default=999)
    parser.add_argument("--seconds", type=int, default=4)
    args = parser.parse_args()

    seed = {}
    if args.seed:
        sys.path.insert(0, str(HERE))
        os.environ["BCC_KERNEL_SOURCE"] = str(ROOT / "bpf/headers")
        import seed_program
        statistics = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
        before = statistics.read_text()
        statistics.write_text("1")
        try:
            for depth in (20, 900):
                with Target(interpreter("3.9"), depth) as pid:
                    ns, frames = seed_program.cost(args.seed, ROOT / "offsets/cpython-3.9.toml", pid, args.hertz,
                                                   args.seconds)
                seed[depth] = (ns, ns / frames)
                print(f"seed   3.9   {depth:4} deep  {ns:9.0f} ns a sample  {ns / frames:7.1f} ns a frame "
                      f"({frames:.0f} frames seen)", flush=True)
        finally:
            statistics.write_text(before)

    for minor in ("3.9", "3.10", "3.11", "3.12", "3.13"):
        python = interpreter(minor)
        if not python:
            print(f"pyperf {minor}: no such interpreter in {PYENV}")
            continue
        for depth in (20, 900):
            with Target(python, depth) as pid:
                result = pyperf_cost(args.pyperf, pid, args.hertz, args.seconds)
            ns, frames = result["bpf_ns_per_sample"], result["frames_per_sample"]
            line = f"pyperf {minor:5} {depth:4} deep  {ns:9.0f} ns a sample  {ns / frames:7.1f} ns a frame"
            if depth in seed:
                line += f"  seed/pyperf: sample {seed[depth][0] / ns:5.1f}  frame {seed[depth][1] * frames / ns:5.1f}"
            print(line, flush=True)


main()
