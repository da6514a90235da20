"""Programs that are profiled: started from a copy of targets/, under a command name of their own."""
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

from failure import Failure
from known_stacks import KnownStacks

TARGETS = pathlib.Path(__file__).resolve().parent / "targets"
PR_SET_PDEATHSIG = 1
READY_SECONDS = 60

libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Stage:
    """A directory in an interpreter's root with the targets, and the interpreter under names that tell the targets
    apart in a profile."""

    def __init__(self, interpreter):
        self.interpreter = interpreter
        self.host = pathlib.Path(tempfile.mkdtemp(prefix="pyperf-live-", dir=interpreter.root / "tmp"))
        self.host.chmod(0o755)
        for source in TARGETS.glob("*.py"):
            shutil.copy(source, self.host)
        self.directory = interpreter.inside(self.host)

    def remove(self):
        shutil.rmtree(self.host)

    def command(self, comm, script, *arguments):
        """What runs a target with the command name comm (15 bytes at most)."""
        name = self.host / comm
        if not name.is_symlink():
            name.symlink_to(self.interpreter.python)
        return self.interpreter.command([f"{self.directory}/{comm}", f"{self.directory}/{script}", *arguments])

    def start(self, script, *arguments, comm="live-target", by=()):
        """by: a command line that runs the target's by exec, so the pid is the target's."""
        return Target([*by, *self.command(comm, script, *arguments)], comm)


class Target:
    """A target that runs. said: what it printed, known: what it says about its stacks, once `ready` has returned."""

    def __init__(self, command, comm):
        self.comm = comm
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONIOENCODING": "utf-8"}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        env=environment, preexec_fn=die_with_parent)
        self.pid = self.process.pid
        self.said = None
        self.known = None
        self.pending = b""

    def ready(self):
        """Waits until the target has printed what it knows (once more: what it has turned into)."""
        said = {}
        deadline = time.monotonic() + READY_SECONDS
        while "ready" not in said:
            if b"\n" in self.pending:
                line, _, self.pending = self.pending.partition(b"\n")
                said.update(json.loads(line))
                continue
            if not select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failure(f"target {self.comm} is not ready after {READY_SECONDS} s")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise Failure(f"target {self.comm} ended before it was ready, with {self.process.wait()}")
            self.pending += data
        self.said = said
        self.known = KnownStacks(said)
        return self

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait(self, seconds=60):
        """Waits for its end and gives the exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"target {self.comm} runs on after {seconds} s") from None

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
