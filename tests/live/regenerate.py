#!/usr/bin/env python3
"""Every shipped layout is what tools/pyoffsets/regenerate makes now.

    tests/live/regenerate.py [--pyoffsets BIN] [--offsets DIR] [NAME...]

Each file of offsets/ is made again, of the headers of pyenv's releases and of those that scripts/interpreters took from
Debian, and has to be the same text. Only the date of making and the revision of Debian's package may differ.

Exit code 77: something that is needed is not here (1 with PYPERF_REQUIRE_ALL=1).
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from failure import (Failure, Missing, Unavailable, exit_code_of, exit_code_of_all,  # noqa: E402
                     require)
from interpreters import CACHE, SOURCE, why_unavailable  # noqa: E402
from offsets_agree import Pyoffsets, compare  # noqa: E402

PYENV = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
HEADERS = CACHE / "headers"
MUSL = "musl-dev-arm64"  # what scripts/interpreters calls it
AT_ONCE = 2


def why_missing(said):
    """The exception for what regenerate said, when headers are missing; else None."""
    if release := re.search(r"no headers of (\S+) found", said):
        minor = release[1].rpartition(".")[0]
        if int(minor.split(".")[1]) <= 13:
            return Missing(f"no headers of {release[1]}: `pyenv install {release[1]}` gets them")
        if others := sorted(path.name for path in HEADERS.glob(f"libpython{minor}-dev-*")):
            return Unavailable(f"no headers of {release[1]}: Debian has {', '.join(others)}")
        return Missing(f"no headers of {release[1]}: `scripts/interpreters deb{minor}` gets them")
    if library := re.search(r"(\S+): that C library's headers are not in (\S+)", said):
        if library[1].startswith("aarch64-musl"):
            if reason := why_unavailable(MUSL):
                return Unavailable(f"no headers of {library[1]}: {reason}")
            return Missing(f"no headers of {library[1]}: `scripts/interpreters {MUSL}` gets them")
        return Missing(f"no headers of {library[1]} in {library[2]}: `scripts/install-packages --tests` installs them")
    return None


def make(name, pyoffsets, folder):
    """The file of one layout, made now, or the exception that tells why there is none."""
    environment = dict(os.environ)
    environment.pop("MUSL_AARCH64", None)
    if musl := sorted(CACHE.glob(f"dev/{MUSL}-*/usr/include/aarch64-linux-musl")):
        environment["MUSL_AARCH64"] = str(musl[-1])
    done = subprocess.run([SOURCE / "tools/pyoffsets/regenerate", pyoffsets, folder, PYENV, HEADERS, "--", name],
                          env=environment, stderr=subprocess.PIPE, text=True, check=False)
    said = done.stderr.strip()
    path = folder / f"{name}.toml"
    if done.returncode == 0 and path.exists():
        return path
    return why_missing(said) or Failure(said or "regenerate does not know this layout")


def comparable(path):
    """The lines, without what may differ."""
    text = re.sub(r'^date = "[\d-]+"$', "date", path.read_text(), count=1, flags=re.MULTILINE)
    text = re.sub(r"^(detail = .* libpython[\d.]+-dev [\d.]+)-[\w.+~]+", r"\1", text, count=1, flags=re.MULTILINE)
    return text.splitlines()


def check(pyoffsets, made, shipped):
    """made: a file, or the exception that tells why there is none."""
    if isinstance(made, Exception):
        raise made
    different = compare(pyoffsets, "regenerated", made, shipped)
    require(different == 0, f"{different} members or rules differ")
    lines = list(difflib.unified_diff(comparable(shipped), comparable(made), "shipped", "made now", n=0, lineterm=""))
    require(not lines, "differs in more than its numbers:\n" + "\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a layout (all)")
    parser.add_argument("--pyoffsets", metavar="BIN", default=SOURCE / "build/release/tools/pyoffsets/pyoffsets")
    parser.add_argument("--offsets", metavar="DIR", type=pathlib.Path, default=SOURCE / "offsets")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.stem for path in arguments.offsets.glob("*.toml"))
    codes = [] if names else [1]
    with tempfile.TemporaryDirectory(prefix="pyperf-regenerate-") as folder:
        made_in, changed_in = (pathlib.Path(folder) / part for part in ("made", "changed"))
        made_in.mkdir()
        changed_in.mkdir()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            all_made = pool.map(lambda name: make(name, arguments.pyoffsets, made_in), names)
            pyoffsets = Pyoffsets(arguments.pyoffsets, changed_in)
            for name, made in zip(names, all_made):
                codes.append(exit_code_of(name, lambda: check(pyoffsets, made, arguments.offsets / f"{name}.toml")))
    return exit_code_of_all(codes)


if __name__ == "__main__":
    sys.exit(main())
