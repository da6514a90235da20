"""Does pyperf's memory stay flat? Processes of the versions that are there, one of them deep, for ten minutes.

    sudo python3 tests/bench/memory.py --pyperf build/release/tools/pyperf/pyperf [--seconds 600] [--hertz 99]

Ends with 1 if RssAnon at its highest after the first minute is more than 1 MiB above what it was then. A run of less
than two minutes does not show it.
"""
import argparse
import os
import subprocess
import time

from bench import HERE, ROOT, Verdicts, command, interpreters, resident_kib

SETTLED_SECONDS = 60
ALLOWED_MIB = 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--hertz", type=int, default=99)
    args = parser.parse_args()
    if args.seconds < 2 * SETTLED_SECONDS:
        raise SystemExit(f"memory: --seconds has to be at least {2 * SETTLED_SECONDS}")
    found = list(interpreters().values())
    if not found:
        raise SystemExit("memory: there are no interpreters: see scripts/interpreters --help")
    targets = [subprocess.Popen(command(one, "mostly_idle.py")) for one in found]
    targets.append(subprocess.Popen(command(found[-1], "stack_depth.py", "900"), preexec_fn=lambda: os.nice(19)))
    memory = []  # (seconds, MiB)
    try:
        profiler = subprocess.Popen([args.pyperf, "--offsets", str(ROOT / "offsets"), "-f", "-F", str(args.hertz),
                                     str(args.seconds)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        begin = time.monotonic()
        while True:
            try:
                _, said = profiler.communicate(timeout=args.seconds / 20)
                break
            except subprocess.TimeoutExpired:
                memory.append((time.monotonic() - begin, resident_kib(profiler.pid) / 1024))
    finally:
        for target in targets:
            target.kill()
            target.wait()
    print(f"{len(targets)} processes; RssAnon of pyperf every {args.seconds / 20:.0f} s, MiB:",
          " ".join(f"{mib:.1f}" for _, mib in memory))
    print(said)
    if profiler.returncode != 0:
        raise SystemExit("memory: pyperf failed")
    settled = [mib for seconds, mib in memory if seconds >= SETTLED_SECONDS]
    growth = max(settled) - settled[0]
    verdicts = Verdicts()
    verdicts.say(growth <= ALLOWED_MIB,
                 f"growth after the first minute: {growth:.2f} MiB, wanted no more than {ALLOWED_MIB}")
    verdicts.exit()


main()
