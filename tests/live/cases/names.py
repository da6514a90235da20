"""Latin-1, Cyrillic, Chinese, emoji; semicolons, newlines, escapes: every name comes out as it is in the target."""
import pathlib

from failure import require


def check(run):
    target = run.start("names.py").ready()
    comm = pathlib.Path(f"/proc/{target.pid}/comm").read_bytes()[:-1].decode("utf-8", "surrogateescape")
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "3")
    target.known.require_all(profile.stacks(), samples=500)
    require({line.comm for line in profile.lines} == {comm},
            f"command names {sorted({line.comm for line in profile.lines})}, not {comm!r}")
