"""Runs pyperf and reads what it prints, independently of pyperf's own code."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from failure import Failure, require
from known_stacks import placeholder_class
from target import die_with_parent

# What no line of a profile may hold as it is: C0 and C1 controls, DEL, line separators, bidirectional controls.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
ESCAPE = re.compile(r"\\(?:([\\ntr])|x([0-9a-f]{2})|u([0-9a-f]{4})|(.?))", re.DOTALL)
SIMPLE = {"\\": b"\\", "n": b"\n", "t": b"\t", "r": b"\r"}
CLASSES = ["complete", "truncated", "torn", "no_python_frames", "not_set_up", "unsupported", "not_python",
           "filtered", "idle", "lost", "stale_code"]
SHOWN_CLASSES = ["torn", "no_python_frames", "not_set_up", "unsupported", "not_python", "stale_code"]


def unescape(text):
    """What a frame or a name was before its escapes. Bytes that are no UTF-8 become lone surrogates."""
    def plain(match):
        simple, byte, code_point, wrong = match.groups()
        if wrong is not None:
            raise Failure(f"a backslash that begins no escape in {text!r}")
        if simple:
            return SIMPLE[simple].decode()
        if byte:
            value = int(byte, 16)
            return chr(value) if value < 0x80 else chr(0xdc00 + value)
        return chr(int(code_point, 16))
    return ESCAPE.sub(plain, text)


class FoldedLine:
    def __init__(self, line):
        match = UNPRINTABLE.search(line)
        require(not match, f"{match and match.group()!r} in the line {line!r}")
        stack, _, count = line.rpartition(" ")
        require(count.isdigit() and int(count) > 0, f"no count at the end of {line!r}")
        comm, *frames = stack.split(";")
        require(frames, f"no frame in {line!r}")
        self.comm = unescape(comm)
        self.frames = [unescape(frame) for frame in frames]
        self.count = int(count)

    def split_kernel(self, is_kernel):
        """Python frames, kernel frames."""
        first = next((i for i, frame in enumerate(self.frames) if is_kernel(frame)), len(self.frames))
        return self.frames[:first], self.frames[first:]


class Profile:
    def __init__(self, stdout, stderr, exit_code, summary, seconds):
        self.stderr = stderr
        self.exit_code = exit_code
        self.summary = summary
        self.seconds = seconds  # how long pyperf ran, its start included
        self.lines = [FoldedLine(line) for line in stdout.splitlines()]

    def stacks(self, comm=None, is_kernel=None):
        """Python frames and count of each line, of one command or of all."""
        chosen = [line for line in self.lines if comm is None or line.comm == comm]
        if is_kernel is None:
            return [(line.frames, line.count) for line in chosen]
        return [(line.split_kernel(is_kernel)[0], line.count) for line in chosen]

    def require_sums(self, is_kernel=None):
        """Every tick is in one class, and the classes are what the lines show."""
        classes = self.summary["classes"]
        require(sorted(classes) == sorted(CLASSES), f"classes {sorted(classes)}")
        require(sum(classes.values()) == self.summary["ticks"],
                f"classes {classes} add up to {sum(classes.values())}, ticks {self.summary['ticks']}")
        shown = dict.fromkeys(CLASSES, 0)
        for frames, count in self.stacks(is_kernel=is_kernel):
            kind = placeholder_class(frames[0]) if frames else None
            if kind is None:
                kind = "truncated" if frames and frames[0] == "[truncated]" else "complete"
            shown[kind] += count
        for kind in ["complete", "truncated", *SHOWN_CLASSES]:
            require(shown[kind] == classes[kind],
                    f"{shown[kind]} ticks of class {kind} in the profile, {classes[kind]} in the summary:\n"
                    f"{shown}\n{classes}\n{self.stderr}")


def kernel_by_annotation(frame):
    """With -a."""
    return frame.endswith("_[k]") or frame == "[Missed Kernel Stack]"


class Pyperf:
    """The tool under test."""

    def __init__(self, binary, offsets):
        self.binary = pathlib.Path(binary).resolve()
        self.offsets = pathlib.Path(offsets).resolve()

    def command(self, *arguments, offsets=None):
        return [str(self.binary), "--offsets", str(offsets or self.offsets), *arguments]

    def start(self, *arguments, offsets=None, **options):
        """Runs it beside the caller, folded."""
        return RunningPyperf(self.command("-f", *arguments, offsets=offsets), options)

    def profile(self, *arguments, offsets=None, sums=True, is_kernel=None, exit_code=0):
        """Runs it to its end. sums: its classes must be those of the lines."""
        return self.start(*arguments, offsets=offsets).finish(sums, is_kernel, exit_code)


class RunningPyperf:
    def __init__(self, command, options):
        self.directory = tempfile.TemporaryDirectory(prefix="pyperf-live-run-")
        place = pathlib.Path(self.directory.name)
        self.out, self.err, self.json = place / "out", place / "err", place / "summary.json"
        self.begun = time.monotonic()
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [*command[:1], "--summary-json", str(self.json), *command[1:]], stdout=out, stderr=err,
                stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **options)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self, sums=True, is_kernel=None, exit_code=0, seconds=120):
        with self.directory:
            try:
                code = self.process.wait(seconds)
                elapsed = time.monotonic() - self.begun
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise Failure(f"pyperf did not end within {seconds} s") from None
            stderr = self.err.read_text(errors="backslashreplace")
            require(code == exit_code, f"exit code {code}, not {exit_code}; it said:\n{stderr}")
            summary = json.loads(self.json.read_text()) if self.json.exists() and self.json.stat().st_size else None
            try:
                profile = Profile(self.out.read_text(encoding="utf-8", errors="strict"), stderr, code, summary,
                                  elapsed)
            except UnicodeDecodeError as error:
                raise Failure(f"the profile is not UTF-8: {error}") from None
            if sums:
                require(summary, "no summary")
                profile.require_sums(is_kernel)
            return profile
