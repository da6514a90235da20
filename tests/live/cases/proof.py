"""The layouts are proven by running processes: the right one is, one with a wrong member is refuted and withdrawn."""
import pathlib
import re
import shutil
import subprocess
import tempfile

from failure import require

TARGETS = [["threads.py"], ["constructs.py"], ["churn.py"], ["recursion.py", "500"]]


def check(run):
    prover = pathlib.Path(run.pyperf.binary).parent.parent.parent / "tests/live/prove_layouts"
    for words in TARGETS:
        target = run.start(*words).ready()
        proof = subprocess.run([prover, run.pyperf.offsets, str(target.pid)], stdout=subprocess.PIPE, text=True,
                               check=False)
        require(proof.returncode == 0, f"{words}:\n{proof.stdout}")
        target.stop()
    withdrawn(run)


def withdrawn(run):
    """Members that the file's own tables do not name, moved by 8 bytes: names would be read from the wrong place."""
    target = run.start("maps.py").ready()  # a process is looked at again when it maps something
    if run.interpreter.version == (2, 7):
        wrong, says = {"PyThreadState": "frame"}, "the frames' chain"
    else:
        wrong, says = {"PyASCIIObject": "sizeof", "PyCompactUnicodeObject": "sizeof"}, "Object.sizeof"
    with tempfile.TemporaryDirectory(prefix="pyperf-live-offsets-") as copy:
        shutil.copytree(run.pyperf.offsets, copy, dirs_exist_ok=True)
        for file in pathlib.Path(copy).glob("cpython-*.toml"):
            text = file.read_text()
            for table, key in wrong.items():
                text = re.sub(rf"(\[{table}\][^\[]*?\n{key} = )(\d+)",
                              lambda found: found[1] + str(int(found[2]) + 8), text)
            file.write_text(text)
        profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2", offsets=copy)
    stacks = profile.stacks()
    require(sum(count for _, count in stacks) >= 300, f"samples {stacks}")
    for frames, count in stacks:
        require(len(frames) == 1 and frames[0].startswith("[unsupported Python: "), f"{count} x {frames}")
        require(says in frames[0], f"{frames[0]} does not say what is wrong")
    said = profile.stderr.count(f"process {target.pid}: ")
    require(said == 2, f"named {said} times, not once when it was refuted and once in the summary:\n{profile.stderr}")
