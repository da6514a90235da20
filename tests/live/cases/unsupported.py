"""An interpreter whose layout is not in the database: refused by name, counted, never guessed."""
import pathlib
import shutil
import tempfile

from failure import Missing, require

INSTALLED = [pathlib.Path("/usr/share/pyperf/offsets.d"), pathlib.Path("/etc/pyperf/offsets.d"),
             pathlib.Path("/usr/local/share/pyperf/offsets.d")]


def check(run):
    for directory in INSTALLED:
        if directory.is_dir():
            raise Missing(f"a machine without {directory}: its layouts cannot be left out")
    interpreter = run.interpreter
    minor = ".".join(map(str, interpreter.version))
    target = run.start("threads.py").ready()
    with tempfile.TemporaryDirectory(prefix="pyperf-live-offsets-") as copy:
        shutil.copytree(run.pyperf.offsets, copy, dirs_exist_ok=True)
        left_out = [file for file in pathlib.Path(copy).glob(f"cpython-{minor}*")
                    if file.name[len(f"cpython-{minor}")] in "t.-"]
        require(left_out, f"no layout of {minor} in {run.pyperf.offsets}")
        for file in left_out:
            file.unlink()
        profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "1", offsets=copy)
    stacks = profile.stacks()
    require(sum(count for _, count in stacks) >= 300, f"samples {stacks}")
    for frames, count in stacks:
        require(len(frames) == 1 and frames[0].startswith("[unsupported Python: "), f"{count} x {frames}")
        require(interpreter.version_text in frames[0], f"{frames[0]} does not name {interpreter.version_text}")
    require(f"process {target.pid}" in profile.stderr and interpreter.version_text in profile.stderr,
            f"the summary does not name it:\n{profile.stderr}")
