"""From the start of pyperf to its first sample, and memory, with interpreters of different versions running.

    sudo python3 tests/bench/start_time.py --pyperf build/release/tools/pyperf/pyperf [--busy]

A target has the time of the monotonic clock in its stack (clock.py). The earliest time in a profile is when its first
complete stack was sampled; printed is how long that is after pyperf was started. It is 1/100 s early at most, and
late by up to a tick (20 ms) and by what the target waited for a CPU.

One target has the clock and all others wait. With --busy all have it (but 2.7, which has no such clock and is just
busy), more than there may be CPUs, and the first sample is that of the version that is seen last.
"""
import argparse
import json
import re
import subprocess
import tempfile
import time

from bench import ROOT, Verdicts, command, interpreters

ALL = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
DEMANDED_SECONDS = 1.5  # with three versions


def start(interpreter, shows_time, is_busy):
    if shows_time:
        return subprocess.Popen(command(interpreter, "clock.py"))
    code = "while True: pass" if is_busy else "import time\ntime.sleep(1000)"
    return subprocess.Popen(interpreter.command([interpreter.python, "-c", code]))


def first_times(folded):
    """By version: the earliest time in its stacks."""
    first = {}
    for version, number in re.findall(r"\bat_(\d+_\d+)_(\d+) ", folded):
        first[version] = min(first.get(version, float("inf")), int(number) / 100)
    return first


def one_run(pyperf, clocks):
    """(seconds to the first sample, RssAnon in KiB)"""
    with tempfile.NamedTemporaryFile() as summary:
        begin = time.monotonic()
        profile = subprocess.run([pyperf, "--offsets", str(ROOT / "offsets"), "-f", "--summary-json", summary.name,
                                  "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        result = json.load(open(summary.name))
    first = first_times(profile.stdout)
    return (max(first.values()) - begin if len(first) == clocks else float("inf")), result["rss_anon_kib"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    found = interpreters()
    verdicts = Verdicts()
    for wanted in (("3.11",), ("3.9", "3.11", "3.13"), ALL):
        labels = [label for label in wanted if label in found]
        if labels != list(wanted):
            print("not there:", " ".join(label for label in wanted if label not in labels))
        if not labels:
            continue
        shows = [label for label in labels if label != "2.7"] if args.busy else labels[-1:]
        targets = [start(found[label], label in shows, args.busy) for label in labels]
        if len(labels) > 3:  # ten processes
            targets.append(start(found[labels[0]], False, args.busy))
        time.sleep(1)
        try:
            runs = [one_run(args.pyperf, len(shows)) for _ in range(args.runs)]
        finally:
            for target in targets:
                target.kill()
                target.wait()
        seconds = sorted(run[0] for run in runs)
        middle = seconds[len(seconds) // 2]
        print(f"{len(labels)} versions, {len(targets):2} processes: first sample after {seconds[0]:.2f} s at best, "
              f"{middle:.2f} s in the middle of {len(runs)}, {seconds[-1]:.2f} s at worst; "
              f"RssAnon {max(run[1] for run in runs) / 1024:.0f} MiB", flush=True)
        if len(wanted) == 3:
            verdict = (len(labels) == 3 and middle <= DEMANDED_SECONDS,
                       f"first sample with three versions: {middle:.2f} s (of {len(labels)} versions), wanted "
                       f"{DEMANDED_SECONDS}")
    verdicts.say(*verdict)
    verdicts.exit()


main()
