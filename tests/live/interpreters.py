"""The CPython interpreters of this machine, as scripts/interpreters lists them."""
import os
import pathlib
import subprocess

from failure import Missing, Unavailable

# The releases of which pyenv makes an interpreter, by label.
PYENV_RELEASES = {"2.7": "2.7.18", "3.6": "3.6.15", "3.7": "3.7.16", "3.8": "3.8.18", "3.9": "3.9.18",
                  "3.10": "3.10.13", "3.11": "3.11.7", "3.12": "3.12.1", "3.13": "3.13.0"}

LABELS = [*PYENV_RELEASES, "deb3.13", "deb3.14", "deb3.15", "3.13t", "3.14t", "3.15t"]

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("PYPERF_TEST_CACHE", "/var/cache/pyperf-tests"))


class Interpreter:
    def __init__(self, label, version, root, python):
        self.label = label
        self.version_text = version
        self.version = tuple(int(number) for number in version.split(".")[:2])
        self.root = pathlib.Path(root)
        self.python = python
        self.is_free_threaded = label.endswith("t")

    def inside(self, path):
        """The name that a path on the host has for the interpreter."""
        return "/" + str(pathlib.Path(path).relative_to(self.root))

    def command(self, arguments):
        if self.root == pathlib.Path("/"):
            return arguments
        return ["chroot", str(self.root), *arguments]


def read_interpreters(tsv=None):
    """By label. tsv: a file with the lines of scripts/interpreters; None: that is asked now."""
    if tsv:
        text = pathlib.Path(tsv).read_text()
    else:
        text = subprocess.run([SOURCE / "scripts/interpreters", "--list"], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
    found = {}
    for line in text.splitlines():
        label, version, root, python = line.split("\t")[:4]
        found[label] = Interpreter(label, version, root, python)
    return found


def why_unavailable(label):
    """Why scripts/interpreters could not make it, if that is not this machine's fault; else None."""
    try:
        lines = (CACHE / "unavailable").read_text().splitlines()
    except OSError:
        return None
    return dict(line.split("\t", 1) for line in lines if "\t" in line).get(label)


def interpreter(found, label):
    if label not in found:
        if reason := why_unavailable(label):
            raise Unavailable(f"no interpreter {label}: {reason}")
        if label in PYENV_RELEASES:
            raise Missing(f"no interpreter {label}: `pyenv install {PYENV_RELEASES[label]}` makes it")
        raise Missing(f"no interpreter {label}: `scripts/interpreters {label}` makes it")
    chosen = found[label]
    if not (chosen.root / chosen.python.lstrip("/")).exists():
        raise Missing(f"no interpreter {label}: {chosen.python} is not there below {chosen.root}")
    return chosen
