"""The layouts are proven by running processes: the right one is, one with a wrong member is refuted and withdrawn."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from failure import require

TARGETS = [["threads.py"], ["constructs.py"], ["churn.py"], ["recursion.py", "500"]]
NOT_YET = ("[not Python]", "[interpreter not set up]")  # while a target starts
START_SECONDS = 2.5  # by then pyperf samples


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
        pyperf = run.pyperf.start("-U", "-F", "999", offsets=copy)
        time.sleep(START_SECONDS)
        late = run.start("threads.py", comm="live-late").ready()  # is walked before it refutes
        time.sleep(2)
        pyperf.interrupt()
        profile = pyperf.finish()
    for comm in (target.comm, late.comm):
        stacks = profile.stacks(comm)
        walked = [(frames, count) for frames, count in stacks if frames[0] not in NOT_YET]
        require(sum(count for _, count in walked) >= 100, f"{comm}: samples {stacks}")
        require(sum(count for _, count in stacks) - sum(count for _, count in walked) <= 100, f"{comm}: samples {stacks}")
        for frames, count in walked:
            require(len(frames) == 1 and frames[0].startswith("[unsupported Python: "), f"{comm}: {count} x {frames}")
            require(says in frames[0], f"{frames[0]} does not say what is wrong")
    for pid in (target.pid, late.pid):
        said = len(re.findall(rf"^pyperf: process {pid}: .* its stacks are not shown$", profile.stderr, re.MULTILINE))
        require(said == 1, f"said {said} times that process {pid} is not shown:\n{profile.stderr}")
