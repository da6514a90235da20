"""What a sample costs in the kernel: pyperf, and the program it starts from, one after the other in one run.

    sudo /usr/bin/python3 tests/bench/sample_cost.py --pyperf build/release/tools/pyperf/pyperf --seed FILE

One meter for both: the kernel's run statistics (kernel.bpf_stats_enabled) of the program that is attached to the tick;
its figure includes its tail calls. They are read twice while the program runs, after a second of warming up and
at the end, and the difference counts. The target is a busy process, alone pinned to one CPU's ticks.

The seed's event is opened for the target only, so each of its runs is a sample. pyperf's is opened for the CPU (-C) and
runs for other tasks there as well, which -p makes short. Its cost per sample is all the time of its program, the
other tasks' ticks included, divided by the runs that were complete stacks of the target (the runs times
their share in pyperf's summary). This is never in pyperf's favour; the share is printed.

"own clock" is what pyperf's program measures of itself: without entry and exit, and with the first, more expensive
samples. Frames are those that were seen: the seed's program ends after 75. Without --seed: pyperf alone, no verdict.
Everything is measured once in each round; the round in the middle counts, for both programs, and the least and the most
are printed beside it: what else the machine does makes a single figure twice as large.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bench import ROOT, Verdicts, interpreters, kernel_statistics, run_statistics, target, tick_program, why_missing

DEPTHS = (20, 900)
LABELS = ("3.9", "3.10", "3.11", "3.12", "3.13", "deb3.14", "deb3.15")
DEMANDED = LABELS[2:]  # 3.11 and later
WARM_UP = 1.0


class Cost:
    def __init__(self, ns, frames, own_ns=0, share=1):
        self.ns, self.frames, self.own_ns, self.share = ns, frames, own_ns, share

    @property
    def ns_per_frame(self):
        return self.ns / self.frames


def pyperf_cost(pyperf, pid, cpu, hertz, seconds):
    with tempfile.NamedTemporaryFile() as summary:
        process = subprocess.Popen(
            [pyperf, "--offsets", str(ROOT / "offsets"), "-U", "-f", "-F", str(hertz), "-p", str(pid), "-C", str(cpu),
             "--summary-json", summary.name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            limit = time.monotonic() + 30
            while (program := tick_program(process.pid)) is None:
                if process.poll() is not None or time.monotonic() > limit:
                    raise SystemExit(f"pyperf counts no ticks: {process.stderr.read() if process.poll() else ''}")
                time.sleep(0.05)
            time.sleep(WARM_UP)
            first = run_statistics(process.pid, program)
            time.sleep(seconds)
            last = run_statistics(process.pid, program)
            if not first or not last or last[1] <= first[1]:
                raise SystemExit("pyperf's program did not run between the two looks")
            process.send_signal(2)
            _, complaint = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode != 0:
            raise SystemExit(f"pyperf failed: {complaint}")
        result = json.load(open(summary.name))
    complete = result["classes"]["complete"]
    if not complete:
        raise SystemExit(f"pyperf has no complete stack of process {pid}: {result['classes']}")
    share = complete / result["ticks"]
    return Cost((last[0] - first[0]) / ((last[1] - first[1]) * share), result["frames_per_sample"],
                result["bpf_ns_per_sample"], share)


def middle(several):
    return sorted(several, key=lambda cost: cost.ns)[len(several) // 2]


def spread(several):
    return f"{min(cost.ns for cost in several):.0f} to {max(cost.ns for cost in several):.0f}"


def load_seed_program():
    """Its module; ends with one line if this Python cannot run it."""
    try:
        import bcc  # noqa: F401
    except ImportError:
        raise SystemExit(f"sample_cost: {sys.executable} has no module bcc, which --seed needs: "
                         "install python3-bpfcc and run this with /usr/bin/python3")
    os.environ["BCC_KERNEL_SOURCE"] = str(ROOT / "bpf/headers")
    import seed_program
    return seed_program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pyperf", required=True)
    parser.add_argument("--seed", type=pathlib.Path, help="the file with the program pyperf starts from")
    parser.add_argument("--hertz", type=int, default=999)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    args = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("sample_cost: needs root: run it with sudo")
    seed_program = load_seed_program() if args.seed else None

    found = {label: one for label, one in interpreters().items() if label in LABELS}
    for label in LABELS:
        if label not in found:
            print(f"pyperf {label:7}: {why_missing(label)}", flush=True)
    seeds, costs = {}, {}
    with kernel_statistics():
        for number in range(args.rounds):
            for label, depth in [(label, depth) for label in LABELS if label in found for depth in DEPTHS]:
                with target(found[label], depth, args.cpu) as pid:
                    if seed_program and label == "3.9":
                        seeds.setdefault(depth, []).append(Cost(*seed_program.cost(
                            args.seed, ROOT / "offsets/cpython-3.9.toml", pid, args.hertz, WARM_UP, args.seconds)))
                    costs.setdefault((label, depth), []).append(
                        pyperf_cost(args.pyperf, pid, args.cpu, args.hertz, args.seconds))
            print(f"round {number + 1} of {args.rounds} done", file=sys.stderr, flush=True)

    seed = {depth: middle(several) for depth, several in seeds.items()}
    for depth, cost in seed.items():
        print(f"seed   3.9     {depth:4} deep  {cost.ns:7.0f} ns a sample  {cost.ns_per_frame:6.1f} ns a frame  "
              f"({spread(seeds[depth])}; {cost.frames:.0f} frames seen)")
    costs_of_rounds, costs = costs, {key: middle(several) for key, several in costs.items()}
    for (label, depth), cost in costs.items():
        line = (f"pyperf {label:7} {depth:4} deep  {cost.ns:7.0f} ns a sample  {cost.ns_per_frame:6.1f} ns a frame  "
                f"({spread(costs_of_rounds[label, depth])}; {cost.frames:.0f} frames, {cost.share:.1%} of the ticks; "
                f"own clock {cost.own_ns:.0f} ns)")
        if depth in seed:
            line += (f"  seed/pyperf: sample {seed[depth].ns / cost.ns:.1f}, "
                     f"frame {seed[depth].ns_per_frame / cost.ns_per_frame:.1f}")
        print(line, flush=True)
    if not seed:
        if args.seed:
            raise SystemExit("sample_cost: the seed's program needs interpreter 3.9")
        return

    measured = [label for label in DEMANDED if (label, 900) in costs]
    verdicts = Verdicts()
    if not measured:
        raise SystemExit("sample_cost: no interpreter of 3.11 or later to judge by")
    frame, at = min((seed[900].ns_per_frame / costs[label, 900].ns_per_frame, label) for label in measured)
    verdicts.say(frame >= 20, f"per frame, 900 deep, 3.11+: {frame:.1f} times cheaper (the least, {at}), wanted 20")
    sample, at = min((seed[20].ns / costs[label, 20].ns, label) for label in measured)
    verdicts.say(sample >= 8, f"per sample, 20 deep, 3.11+: {sample:.1f} times cheaper (the least, {at}), wanted 8")
    verdicts.exit()


main()
