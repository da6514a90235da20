"""A micro release that is newer than its layout's range: not shown before a process has proven the layout, then shown, and
said so; with a layout that is wrong in one member: not one stack."""
import pathlib
import re
import shutil
import tempfile
import time

from failure import Unavailable, require

# One that the file's own tables name, and two that only the live proof can find out.
WRONG = [("PyCodeObject", "co_name"), ("PyThreadState", "next"), ("PyASCIIObject", "sizeof")]
WRONG_2_7 = [("PyCodeObject", "co_name"), ("PyThreadState", "frame")]


def cut_short(offsets, interpreter, wrong=()):
    """Has layouts of its minor version end before its micro release, with members moved by 8 bytes."""
    major, minor, micro = map(int, interpreter.version_text.rstrip("t").split("."))
    own = f"{major}.{minor}.{micro}"
    for file in pathlib.Path(offsets).glob(f"cpython-{major}.{minor}*.toml"):
        text = file.read_text()
        first, last = (re.search(rf'^{key} = "([\d.]+)"', text, re.MULTILINE)[1] for key in ("first", "last"))
        if not int(first.split(".")[2]) <= micro <= int(last.split(".")[2]):
            continue
        if first == own:
            raise Unavailable(f"{own} is the first release of its layout: its range cannot be cut short")
        text = re.sub(r'^last = .*', f'last = "{major}.{minor}.{micro - 1}"', text, flags=re.MULTILINE)
        for table, key in wrong:
            text, moved = re.subn(rf"(\[{table}\][^\[]*?\n{key} = )(\d+)",
                                  lambda found: found[1] + str(int(found[2]) + 8), text)
            require(moved == 1, f"{file} has no {table}.{key}")
        file.write_text(text)


def check(run):
    with tempfile.TemporaryDirectory(prefix="pyperf-live-offsets-") as copy:
        shutil.copytree(run.pyperf.offsets, copy, dirs_exist_ok=True)
        cut_short(copy, run.interpreter)
        unproven(run, copy)
        target = run.start("threads.py").ready()
        proven(run, copy, target)
    for member in WRONG_2_7 if run.interpreter.version == (2, 7) else WRONG:
        wrong(run, target, member)


def require_no_stack(profile, why):
    for frames, count in profile.stacks():
        require(len(frames) == 1 and frames[0].startswith("["), f"{why}, and yet: {count} x {frames}")
    require(profile.summary["classes"]["complete"] == 0, f"{why}: {profile.summary['classes']}")
    require("Proven here" not in profile.stderr, f"{why}, and yet:\n{profile.stderr}")


def unproven(run, offsets):
    """The layout is right, but a single frame proves nothing."""
    target = run.start("one_frame.py")
    time.sleep(0.5)
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2", offsets=offsets)
    require_no_stack(profile, "nothing proves the layout")
    require(profile.summary["classes"]["not_set_up"] >= 1000, f"{profile.summary['classes']}")
    said = " ".join(profile.stderr.split())
    require(f"Not shown, process {target.pid}: no layout for CPython {run.interpreter.version_text}" in said,
            f"it is not said:\n{profile.stderr}")
    target.stop()


def proven(run, offsets, target):
    interpreter = run.interpreter
    threaded = "t" if interpreter.is_free_threaded else ""
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "3", offsets=offsets)
    target.known.require_all(profile.stacks(), even=False, samples=1000)
    said = " ".join(profile.stderr.split())
    says = f"process {target.pid}: CPython {interpreter.version_text}{threaded} by"
    require("Proven here, not in the database, " + says in said, f"it is not marked:\n{profile.stderr}")
    shown = [one for one in profile.summary["processes"] if one["pid"] == target.pid]
    require(len(shown) == 1 and shown[0]["proven"] and not shown[0]["in_database"]
            and "proven here, not in the database" in shown[0]["evidence"], f"summary: {shown}")


def wrong(run, target, member):
    also = [("PyCompactUnicodeObject", "sizeof")] if member[0] == "PyASCIIObject" else []
    with tempfile.TemporaryDirectory(prefix="pyperf-live-offsets-") as copy:
        shutil.copytree(run.pyperf.offsets, copy, dirs_exist_ok=True)
        cut_short(copy, run.interpreter, [member, *also])
        profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2", offsets=copy)
    require_no_stack(profile, f"{'.'.join(member)} is wrong")
