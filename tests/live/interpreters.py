"""The CPython interpreters of this machine, as scripts/interpreters lists them."""
import os
import pathlib
import subprocess

from failure import Missing, Unavailable

LABELS = ["2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13",
          "deb3.13", "deb3.14", "deb3.15", "3.13t", "3.14t", "3.15t"]

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


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
    cache = pathlib.Path(os.environ.get("PYPERF_TEST_CACHE", "/var/cache/pyperf-tests"))
    try:
        lines = (cache / "unavailable").read_text().splitlines()
    except OSError:
        return None
    return dict(line.split("\t", 1) for line in lines if "\t" in line).get(label)


def interpreter(found, label):
    if label not in found:
        if reason := why_unavailable(label):
            raise Unavailable(f"no interpreter {label}: {reason}")
        raise Missing(f"no interpreter {label}: scripts/interpreters {label} makes it")
    chosen = found[label]
    if not (chosen.root / chosen.python.lstrip("/")).exists():
        raise Missing(f"no interpreter {label}: {chosen.python} is not there below {chosen.root}")
    return chosen
