#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our line-table decoder with interpreters' own answers, at every instruction of their standard libraries.

compare_stdlib.py [--fraction N] DECODER PYTHON...

DECODER is the executable decode_line_tables. A PYTHON below another root directory is written ROOT:PATH
(/srv/chroot/forky:/usr/bin/python3.14). Exit code 1 if any position differs, 2 if an interpreter could not be asked.
"""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def command_of(python):
    root, colon, path = python.rpartition(":")
    return ["chroot", root, path] if colon else [path]


def parse_runs(line):
    runs = []
    for word in line.split()[1:]:
        count, _, number = word.partition("x")
        runs.append((int(count), None if number == "-" else int(number)))
    return runs


def with_rule(runs, first_line):
    """The interpreter's answers, with the stated rule for instructions that have no line."""
    filled = []
    last = first_line
    for count, line in runs:
        last = last if line is None else line
        if filled and filled[-1][1] == last:
            filled[-1] = (filled[-1][0] + count, last)
        else:
            filled.append((count, last))
    return filled


def expand(runs):
    return [line for count, line in runs for _ in range(count)]


class Tally:
    def __init__(self):
        self.codes = self.positions = self.without_line = self.differences = self.longest = 0

    def add(self, python, code_line, table_line, truth_line, own_line):
        first_line = int(code_line.split()[3])
        truth = parse_runs(truth_line)
        expected = with_rule(truth, first_line)
        own = parse_runs(own_line)
        self.codes += 1
        self.positions += sum(count for count, _ in truth)
        self.without_line += sum(count for count, line in truth if line is None)
        self.longest = max(self.longest, len(table_line.split()[1]) // 2)
        if own == expected:
            return
        different = [
            (at, line, decoded)
            for at, (line, decoded) in enumerate(zip(expand(expected), expand(own)))
            if line != decoded
        ]
        if not different:
            sys.exit(f"{python}: the decoder answered for another number of positions")
        if self.differences == 0:
            at, line, decoded = different[0]
            print(f"{python}: {code_line.strip()}: position {at}: {decoded}, the interpreter says {line}")
        self.differences += len(different)


def compare(decoder, python, fraction):
    """Prints one line about `python`; returns its Tally, or None if it could not be asked."""
    tally = Tally()
    with tempfile.TemporaryFile("w+") as told, open(os.path.join(HERE, "line_tables.py")) as script:
        asked = subprocess.run([*command_of(python), "-", "stdlib", str(fraction)], stdin=script, stdout=told, check=False)
        if asked.returncode != 0:
            print(f"{python}: could not be asked (exit code {asked.returncode})")
            return None
        told.seek(0)
        own = subprocess.run([decoder], stdin=told, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        told.seek(0)
        for own_line in own:
            tally.add(python, told.readline(), told.readline(), told.readline(), own_line)
        if told.readline() or tally.positions == 0:
            sys.exit(f"{python}: not every code object was decoded")
    print(
        f"{python}: {tally.codes} code objects, {tally.positions} positions ({tally.without_line} without a line), "
        f"longest table {tally.longest} bytes, {tally.differences} differences"
    )
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fraction", type=int, default=1, metavar="N", help="only each Nth file of each directory")
    parser.add_argument("decoder")
    parser.add_argument("python", nargs="+")
    options = parser.parse_args()
    tallies = [compare(options.decoder, python, options.fraction) for python in options.python]
    if None in tallies:
        return 2
    print(f"{sum(t.positions for t in tallies)} positions, {sum(t.differences for t in tallies)} differences")
    return 1 if any(t.differences for t in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
