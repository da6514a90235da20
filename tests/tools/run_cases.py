#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs command lines and compares what they print and return with what a file of cases expects.

A case is a block of lines, each a keyword and the rest of the line; blocks are separated by empty lines, and lines
that begin with # are comments:

    NAME    the end of the test's name
    RUN     a line for bash; $pyperf is the tool, $offsets its --offsets option with the source tree's layouts,
            $spin the pid of a Python program of its own that is busy in a function called spin() (asked for by naming
            it), $python an interpreter, $source the source tree, and the working folder is an empty one
    EXIT    the exit code; 0 if there is no such line
    STDOUT  a regular expression that must be found in the standard output (^ and $ are a line's); any number of them
    STDERR  the same of standard error
    NOT_STDOUT, NOT_STDERR  one that must not be found
    LINES_STDERR, LINES_STDOUT  how many lines there must be
    WIDTH   no line of either may be longer
    NEEDS   root, or names of programs: skipped, and said so, where that is missing

Exit code 0: all passed; 1: some failed; 77: none failed, some were skipped (1 with PYPERF_REQUIRE_ALL=1).
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SPIN = """
import os, sys
def spin():
    while True:
        os.getpid()
print(os.getpid(), flush=True)
spin()
"""
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SINGLE = {"NAME", "RUN", "EXIT", "LINES_STDERR", "LINES_STDOUT", "WIDTH", "NEEDS"}
MANY = {"STDOUT", "STDERR", "NOT_STDOUT", "NOT_STDERR"}
TIMEOUT_SECONDS = 120


class CaseError(Exception):
    """A case file that says something this program does not understand."""


def read_cases(path):
    """The cases of a file, each a dictionary."""
    cases = []
    case = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines.read().split("\n") + [""], 1):
            if line.startswith("#"):
                continue
            if not line.strip():
                if case:
                    for keyword in ("NAME", "RUN"):
                        if keyword not in case:
                            raise CaseError(f"{path}:{number}: a case without {keyword}")
                    cases.append(case)
                case = {}
                continue
            keyword, _, rest = line.partition(" ")
            if keyword in MANY:
                case.setdefault(keyword, []).append(rest.strip())
            elif keyword in SINGLE and keyword not in case:
                case[keyword] = rest.strip()
            else:
                raise CaseError(f"{path}:{number}: {keyword} is unknown or there twice")
    names = [case["NAME"] for case in cases]
    if len(set(names)) != len(names):
        raise CaseError(f"{path}: two cases of one name")
    if not cases:
        raise CaseError(f"{path}: no cases")
    return cases


def is_missing(need):
    """Whether this run lacks what a case needs."""
    return os.geteuid() != 0 if need == "root" else shutil.which(need) is None


def complaints(case, code, stdout, stderr):
    """What is wrong with a case's result, line by line."""
    wrong = []
    if code != int(case.get("EXIT", 0)):
        wrong.append(f"exit code {code}, expected {case.get('EXIT', 0)}")
    for stream, text in (("STDOUT", stdout), ("STDERR", stderr)):
        for pattern in case.get(stream, []):
            if not re.search(pattern, text, re.MULTILINE):
                wrong.append(f"{stream} has no {pattern!r}")
        for pattern in case.get("NOT_" + stream, []):
            if re.search(pattern, text, re.MULTILINE):
                wrong.append(f"{stream} has {pattern!r}")
        lines = case.get("LINES_" + stream)
        if lines is not None and len(text.splitlines()) != int(lines):
            wrong.append(f"{len(text.splitlines())} lines in {stream}, expected {lines}")
    if "WIDTH" in case:
        wide = [line for line in (stdout + stderr).splitlines() if len(line) > int(case["WIDTH"])]
        if wide:
            wrong.append(f"a line of {len(wide[0])} columns: {wide[0]}")
    return wrong


def run_case(case, variables):
    """Runs one case; what is wrong with it, and all it printed."""
    with tempfile.TemporaryDirectory(prefix="pyperf-tool-test-") as folder:
        environment = dict(os.environ, LC_ALL="C.UTF-8", **variables)
        spinner = None
        if "$spin" in case["RUN"]:
            # pylint: disable-next=consider-using-with
            spinner = subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, text=True)
            environment["spin"] = spinner.stdout.readline().strip()
        line = case["RUN"].replace("$pyperf", variables["pyperf"]).replace("$offsets", variables["offsets"])
        try:
            # With a session of its own: a signal to its process group is no signal to this program.
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_SECONDS, check=False, start_new_session=True)
        except subprocess.TimeoutExpired:
            return [f"still running after {TIMEOUT_SECONDS} s"], ""
        finally:
            if spinner:
                spinner.kill()
                spinner.wait()
                spinner.stdout.close()
    wrong = []
    texts = []
    for name, output in (("STDOUT", done.stdout), ("STDERR", done.stderr)):
        try:
            texts.append(output.decode("utf-8"))
        except UnicodeDecodeError as error:
            wrong.append(f"{name} is not UTF-8: {error}")
            texts.append(output.decode("utf-8", "backslashreplace"))
    wrong += complaints(case, done.returncode, *texts)
    return wrong, f"--- stdout\n{texts[0]}--- stderr\n{texts[1]}---"


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyperf", required=True, help="the tool to test")
    parser.add_argument("--offsets", required=True, help="a directory of layouts")
    parser.add_argument("--only", help="a regular expression for the names of cases")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    failed = skipped = passed = 0
    for path in options.files:
        variables = {
            "pyperf": shlex.quote(os.path.abspath(options.pyperf)),
            "offsets": "--offsets " + shlex.quote(os.path.abspath(options.offsets)),
            "python": sys.executable,
            "source": SOURCE,
        }
        for case in read_cases(path):
            if options.only and not re.search(options.only, case["NAME"]):
                continue
            missing = [need for need in case.get("NEEDS", "").split() if is_missing(need)]
            if missing:
                print(f"SKIPPED {case['NAME']}: needs {' '.join(missing)}")
                skipped += 1
                continue
            wrong, output = run_case(case, variables)
            if wrong:
                failed += 1
                print(f"FAILED  {case['NAME']}\n    {case['RUN']}")
                for line in wrong:
                    print(f"    {line}")
                print(output)
            else:
                passed += 1
                print(f"passed  {case['NAME']}")
            sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed or not passed + skipped:
        return 1
    if skipped and os.environ.get("PYPERF_REQUIRE_ALL") == "1":
        return 1
    return 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
