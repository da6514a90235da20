#!/usr/bin/env python3
"""The live tests: pyperf against real interpreters, whose programs say themselves what the profile must show.

    sudo tests/live/run.py --case CASE:LABEL [--pyperf BIN] [--offsets DIR] [--interpreters TSV]
    sudo tests/live/run.py --all [--only WORD]
    tests/live/run.py --list [--only WORD]

Exit code 77: something that the case needs is not here (1 with PYPERF_REQUIRE_ALL=1).
"""
import argparse
import importlib
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from failure import SKIPPED, Missing, exit_code_of  # noqa: E402
from interpreters import LABELS, SOURCE, interpreter, read_interpreters  # noqa: E402
from profile_run import Pyperf  # noqa: E402
from target import Stage  # noqa: E402

CASES = {
    "constructs": LABELS,
    "recursion": LABELS,
    "threads": LABELS,
    "names": LABELS,
    "churn": LABELS,
    "code_reuse": LABELS,
    "shares": LABELS,
    "unsupported": LABELS,
    "processes": LABELS,
    "limits": LABELS,
    "proof": LABELS,
    # Those at hand of 3.13 and 3.15 are the first releases of their layouts: a range cannot end before them.
    "candidate": [label for label in LABELS if label not in ("3.13", "deb3.15")],
    "one_thread": ["2.7", "3.8", "3.12", "3.13t"],  # their ways from a thread to its state differ
    # Nothing in these depends on the interpreter.
    "usage": ["3.11"],
    "filters": ["3.11"],
    "rates": ["3.11"],
}


class Run:
    """What a case gets: the tool, the interpreter, and a way to start targets that end with the case."""

    def __init__(self, pyperf, found, label):
        self.pyperf = pyperf
        self.found = found
        self.interpreter = interpreter(found, label)
        self.stages = {}
        self.targets = []

    def stage(self, label=None):
        chosen = self.interpreter if label is None else interpreter(self.found, label)
        if chosen.label not in self.stages:
            self.stages[chosen.label] = Stage(chosen)
        return self.stages[chosen.label]

    def start(self, script, *arguments, **options):
        target = self.stage().start(script, *arguments, **options)
        self.targets.append(target)
        return target

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for target in self.targets:
            target.stop()
        for stage in self.stages.values():
            stage.remove()


def run_case(case, pyperf, tsv):
    """Exit code of one CASE:LABEL."""
    name, _, label = case.partition(":")
    if label not in CASES.get(name, ()):
        print(f"no such case: {case} (--list)", file=sys.stderr)
        return 2

    def check():
        if os.geteuid() != 0:
            raise Missing("root's rights")
        with Run(pyperf, read_interpreters(tsv), label) as run:
            importlib.import_module(f"cases.{name}").check(run)

    return exit_code_of(case, check)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--case", action="append", metavar="CASE:LABEL")
    what.add_argument("--all", action="store_true", help="every case, every interpreter")
    what.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("--only", metavar="WORD", default="", help="with --all or --list: cases with WORD in them")
    parser.add_argument("--pyperf", metavar="BIN", default=SOURCE / "build/release/tools/pyperf/pyperf")
    parser.add_argument("--offsets", metavar="DIR", default=SOURCE / "offsets")
    parser.add_argument("--interpreters", metavar="TSV", help="what scripts/interpreters printed; else it is asked")
    arguments = parser.parse_args()

    cases = arguments.case or [f"{name}:{label}" for name, labels in CASES.items() for label in labels]
    cases = [case for case in cases if arguments.only in case]
    if arguments.list:
        print("\n".join(cases))
        return 0
    pyperf = Pyperf(arguments.pyperf, arguments.offsets)
    codes = []
    for case in cases:
        begun = time.monotonic()
        codes.append(run_case(case, pyperf, arguments.interpreters))
        if codes[-1] == 0:
            print(f"{case}: passed in {time.monotonic() - begun:.1f} s", flush=True)
    return next((code for code in codes if code not in (0, SKIPPED)), SKIPPED if SKIPPED in codes[-1:] else 0)


if __name__ == "__main__":
    sys.exit(main())
