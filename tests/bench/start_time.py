"""From start to first sample, and memory, with interpreters of different versions running.

    sudo python3 tests/bench/start_time.py --pyperf build/release/tools/pyperf/pyperf [--busy]

pyperf prints its header when the ticks run; the first sample comes with the first tick (here within 20 ms). Processes
wait, or with --busy take all the CPU they get.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYENV = pathlib.Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))) / "versions"

ALL = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    code = "while True: pass" if args.busy else "import time\ntime.sleep(1000)"
    for minors in ((), ("3.11",), ("3.9", "3.11", "3.13"), ALL):
        pythons = [str(sorted(PYENV.glob(f"{minor}.*/bin/python"))[-1]) for minor in minors]
        targets = [subprocess.Popen([python, "-c", code]) for python in pythons]
        if len(minors) > 3:  # ten processes
            targets.append(subprocess.Popen([pythons[0], "-c", code]))
        time.sleep(1)
        starts, memory = [], []
        try:
            for _ in range(args.runs):
                with tempfile.NamedTemporaryFile() as summary:
                    begin = time.monotonic()
                    profiler = subprocess.Popen([args.pyperf, "--offsets", str(ROOT / "offsets"), "--summary-json",
                                                 summary.name, "1"],
                                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    while not profiler.stderr.readline().startswith("Sampling at"):
                        pass
                    starts.append(time.monotonic() - begin)
                    profiler.communicate()
                    memory.append(json.load(open(summary.name))["rss_anon_kib"])
        finally:
            for target in targets:
                target.kill()
                target.wait()
        print(f"{len(minors)} versions, {len(targets):2} processes: first sample after {min(starts):.2f} s at best, "
              f"{sorted(starts)[len(starts) // 2]:.2f} s in the middle of {len(starts)}; RssAnon {max(memory) / 1024:.0f} MiB",
              flush=True)


main()
