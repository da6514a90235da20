#!/usr/bin/env python3
"""Headers, debug information and the shipped layout of an interpreter give the same offset for every member.

    tests/live/offsets_agree.py [--pyoffsets BIN] [--offsets DIR] [--interpreters TSV] LABEL...
    tests/live/offsets_agree.py --list

pyoffsets makes two layouts of an interpreter, of its headers (with libclang) and of its debug information (with libdw),
and both are compared with the layout of offsets/ that is for its version and build. Both are complete: pyoffsets fails
where a structure or member that the version has cannot be found, so nothing that the layout has is out of the reach of
debug information. What neither headers nor debug information say is the rules of tools/pyoffsets/rules.cpp; here they are
compared as well, but both sides have them from there (first_shim_owner alone is read from either).

Debian's interpreters are stripped: of those only the headers are compared, also as a free-threaded build, for which a
definition in the same headers is enough (from 3.13 on).

Exit code 77: something that is needed is not here (1 with PYPERF_REQUIRE_ALL=1).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from failure import Failure, Missing, exit_code_of, exit_code_of_all, require  # noqa: E402
from interpreters import LABELS, SOURCE, interpreter, read_interpreters  # noqa: E402

NUMBER = re.compile(r'^(\w+|"[\w.]+") = \d+$', re.MULTILINE)


class Pyoffsets:
    """The tool, with a folder for what it makes."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = pathlib.Path(folder)

    def generate(self, name, version, arguments):
        """The file of a layout that is made now."""
        path = self.folder / f"{name}.toml"
        done = subprocess.run([self.binary, "generate", *arguments, "--first", version, "--last", version, "-o", path],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"{name}: {done.stderr.strip()}")
        return path

    def differences(self, first, second):
        """Lines "STRUCTURE.MEMBER: FIRST SECOND"; fails where a file is none."""
        done = subprocess.run([self.binary, "diff", first, second], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        require(not done.stderr, done.stderr.strip())
        lines = done.stdout.splitlines()
        require((done.returncode != 0) == bool(lines), f"pyoffsets diff: exit code {done.returncode} with {lines}")
        return lines


def headers_of(chosen):
    """The directory with Python.h."""
    minor = "{}.{}".format(*chosen.version)
    if chosen.label.startswith("deb"):
        # A copy without the chroot's C library beside it, which is not this machine's (scripts/interpreters).
        pattern = f"libpython{minor}-dev-{chosen.version_text}-*/usr/include/python{minor}"
        found = sorted((chosen.root.parent / "headers").glob(pattern))
        if not found:
            raise Missing(f"{chosen.label}: no {pattern} below {chosen.root.parent / 'headers'}")
        return found[-1]
    python = pathlib.Path(chosen.python)
    prefix = chosen.root / str(python.parent.parent).lstrip("/")
    for name in (f"python{minor}t",) if chosen.is_free_threaded else (f"python{minor}", f"python{minor}m"):
        if (prefix / "include" / name / "Python.h").exists():
            return prefix / "include" / name
    raise Missing(f"{chosen.label}: no headers below {prefix / 'include'}")


def debug_information_of(chosen):
    """The file that the interpreter's code is in: its library, else the program."""
    python = chosen.root / chosen.python.lstrip("/")
    minor = "{}.{}".format(*chosen.version)
    libraries = sorted((python.parent.parent / "lib").glob(f"libpython{minor}*.so.1.0"))
    return libraries[0] if libraries else python.resolve()


def has_debug_information(path):
    sections = subprocess.run(["readelf", "--wide", "--sections", path], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
    return ".debug_info" in sections


def layout_for(offsets, version, free_threaded):
    """The shipped file for a version, by its own head; there has to be one alone."""
    wanted = tuple(int(number) for number in version.split("."))
    architecture = os.uname().machine
    found = []
    for path in sorted(pathlib.Path(offsets).glob("*.toml")):
        text = path.read_text()
        first, last = (tuple(int(number) for number in re.search(rf'^{end} = "([\d.]+)"', text, re.MULTILINE)[1]
                             .split(".")) for end in ("first", "last"))
        if (first <= wanted <= last and f"free_threaded = {str(free_threaded).lower()}\n" in text
                and re.search(rf'^architectures = .*"{architecture}"', text, re.MULTILINE)
                and re.search(r'^c_libraries = .*"glibc"', text, re.MULTILINE)):
            found.append(path)
    build = "free-threaded" if free_threaded else "default"
    require(len(found) == 1, f"{version} {build}: layouts {[path.name for path in found]}, there has to be one")
    return found[0]


def compare(pyoffsets, what, made, shipped):
    """Prints what differs; returns how many members do."""
    lines = pyoffsets.differences(made, shipped)
    members = len(NUMBER.findall(made.read_text().partition("\n[PyObject]\n")[2]))
    # A comparison that finds nothing has to be able to: one member is changed in a copy.
    changed = pyoffsets.folder / f"{shipped.stem}.toml"
    text, count = re.subn(r"^thread_id = (\d+)$", lambda line: f"thread_id = {int(line[1]) + 4096}",
                          shipped.read_text(), flags=re.MULTILINE)
    require(count == 1, f"{shipped}: {count} members thread_id")
    changed.write_text(text)
    seen = [line.split(":")[0] for line in pyoffsets.differences(shipped, changed)]
    require(seen == ["PyThreadState.thread_id"], f"{what}: of a changed thread_id this is seen: {seen}")
    changed.unlink()
    for line in lines:
        print(f"{what} and {shipped.name} differ: {line}")
    if not lines:
        print(f"{what}: {members} offsets and sizes as in {shipped.name}")
    require(members > 30, f"{what}: only {members} offsets and sizes")
    return len(lines)


def check(pyoffsets, offsets, chosen):
    """Compares all that there is of an interpreter."""
    different = 0
    headers = headers_of(chosen)
    version = chosen.version_text
    builds = [chosen.is_free_threaded]
    # Headers as `make install` leaves them are of one build; in Debian's the definition is not fixed.
    if chosen.label.startswith("deb") and chosen.version >= (3, 13):
        builds.append(True)
    for free_threaded in builds:
        name = f"headers-{version}{'t' if free_threaded else ''}"
        made = pyoffsets.generate(name, version, ["--headers", headers] +
                                  (["--free-threaded"] if free_threaded else []))
        different += compare(pyoffsets, f"{headers}{' (free-threaded)' if free_threaded else ''}", made,
                             layout_for(offsets, version, free_threaded))
    binary = debug_information_of(chosen)
    if has_debug_information(binary):
        made = pyoffsets.generate(f"dwarf-{version}", version, ["--elf", binary])
        different += compare(pyoffsets, binary, made, layout_for(offsets, version, chosen.is_free_threaded))
    elif chosen.label.startswith("deb"):
        print(f"{binary}: is stripped, only the headers are compared")
    else:
        raise Missing(f"{binary} has no debug information: build it with CFLAGS=-g")
    require(different == 0, f"{different} members differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", nargs="*", metavar="LABEL", help="of scripts/interpreters")
    parser.add_argument("--list", action="store_true", help="print the labels")
    parser.add_argument("--pyoffsets", metavar="BIN", default=SOURCE / "build/release/tools/pyoffsets/pyoffsets")
    parser.add_argument("--offsets", metavar="DIR", default=SOURCE / "offsets")
    parser.add_argument("--interpreters", metavar="TSV", help="what scripts/interpreters printed; else it is asked")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(LABELS))
        return 0
    if not arguments.labels:
        parser.error("no LABEL")
    found = read_interpreters(arguments.interpreters)
    codes = []
    for label in arguments.labels:
        with tempfile.TemporaryDirectory(prefix="pyperf-offsets-") as folder:
            codes.append(exit_code_of(label, lambda: check(Pyoffsets(arguments.pyoffsets, folder), arguments.offsets,
                                                           interpreter(found, label))))
    return exit_code_of_all(codes)


if __name__ == "__main__":
    sys.exit(main())
