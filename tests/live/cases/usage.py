"""The command line as a user types it: each mistake gets one line and its exit code, an end is an end."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from failure import require
from screen import read_screen
from target import die_with_parent

NOBODY = 65534


class Ended:
    def __init__(self, command, stdout, stderr, code):
        self.command = " ".join(command)
        self.stdout = stdout
        self.stderr = stderr
        self.code = code

    def require(self, code, pattern=None):
        """Ends with this code; with a pattern: says one line only, and that matches."""
        said = f"{self.command}: exit code {self.code}, said:\n{self.stderr}"
        require(self.code == code, f"not {code}: {said}")
        if pattern is not None:
            lines = self.stderr.splitlines()
            require(len(lines) == 1, f"not one line: {said}")
            require(re.match(r"pyperf: .*(" + pattern + ")", lines[0]), f"not /{pattern}/: {said}")
            require(self.stdout in ("", None), f"{self.command} printed {self.stdout[:200]!r}")
        return self


def execute(command, seconds=60, **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
               "preexec_fn": die_with_parent, **options}
    done = subprocess.run(command, timeout=seconds, check=False, **options)
    return Ended(command, done.stdout, done.stderr, done.returncode)


def check_words(tool, busy):
    """Words that are wrong: exit code 2, before anything is done."""
    wrong = {
        ("-F", "0"): "-F|frequency",
        ("-F", "many"): "-F|frequency",
        ("-F", "-1"): "-F|frequency",
        ("-c", "0"): "-c|count",
        ("-p", "one"): "-p|pid",
        ("-p", "1,,2"): "-p|pid",
        ("-p", "0"): "-p|pid",
        ("-L", ""): "-L|tid",
        ("0",): "DURATION|whole number",
        ("1.5",): "DURATION|whole number",
        ("soon",): "DURATION|whole number",
        ("1", "2"): "2",
        ("--no-such-option",): "no-such-option",
        ("--offsets", "/nonexistent"): "/nonexistent",
        ("-U", "-K"): "exclude|contradict",
        ("-F", "99", "-c", "1000000"): "exclude|contradict",
        ("5", "--duration", "5"): "exclude|contradict",
        ("-p", busy, "--", "true"): "contradict",
        ("-L", busy, "--", "true"): "contradict",
        ("-K", "--show-gil-state"): "contradict",
        ("-f", "-o", "x.txt"): "contradict",
        ("-o", "profile.unknown"): "profile.unknown",
        ("-o", ""): "-o|output",
        ("-o", "/tmp/same.txt", "--summary-json", "/tmp/same.txt"): "same file",
        ("--",): "command",
        ("--stack-storage-size", "0"): "stack-storage-size",
        ("--hash-storage-size", "x"): "hash-storage-size",
    }
    for words, pattern in wrong.items():
        execute(tool(*words)).require(2, pattern)
    require(not pathlib.Path("/tmp/same.txt").exists(), "a wrong command line made a file")


def check_targets(tool, busy, ended):
    execute(tool("-p", str(ended), "1")).require(1, f"process {ended}")
    execute(tool("-p", f"{busy},{ended}", "1")).require(1, f"process {ended}")
    execute(tool("-L", str(ended), "1")).require(1, f"thread {ended}")
    execute(tool("--cgroupmap", "/sys/fs/bpf/no-such-map", "1")).require(1, "no-such-map")
    execute(tool("--mntnsmap", "/etc/passwd", "1")).require(1, "/etc/passwd")
    execute(tool("-C", "4095", "1")).require(1, "CPU")

    loop = subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=die_with_parent)
    try:
        done = execute(tool("-f", "-U", "-F", "99", "-p", str(loop.pid), "1")).require(0)
    finally:
        loop.kill()
        loop.wait()
    require(re.match(r"sh;\[not Python\] \d+\n$", done.stdout), f"of a shell: {done.stdout!r}")
    require(f"process {loop.pid} has no CPython" in done.stderr, done.stderr)


def check_outputs(tool, busy, directory):
    short = ("-p", busy, "-U", "-F", "99", "1")
    execute(tool("-o", "/nonexistent/x.folded", *short)).require(1, "/nonexistent/x.folded")
    folder = directory / "folder.folded"
    folder.mkdir()
    execute(tool("-o", str(folder), *short)).require(1, "folder.folded")
    execute(tool("--summary-json", "/nonexistent/x.json", *short)).require(1, "/nonexistent/x.json")
    with open("/dev/full", "w") as full:
        done = execute(tool("-f", *short), stdout=full).require(1)
        require(re.search(r"^pyperf: .*(space|written|write)", done.stderr, re.MULTILINE), done.stderr)
    done = execute(tool("-f", "-o", "/dev/full", *short)).require(1)
    require(re.search(r"^pyperf: .*/dev/full", done.stderr, re.MULTILINE), done.stderr)
    execute(["sh", "-c", 'exec "$@" >&-', "sh", *tool("-f", *short)]).require(1, "standard output")

    done = execute(["bash", "-c", '"$@" | head -n 1; exit ${PIPESTATUS[0]}', "bash", *tool("-f", *short)]).require(0)
    require(done.stdout.count("\n") == 1, done.stdout)
    done = execute(["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "bash", *tool("-f", *short)]).require(0)
    require("pyperf:" not in done.stderr and "ipe" not in done.stderr, f"a closed pipe: {done.stderr}")

    file = directory / "profile.folded"
    execute(tool("-o", str(file), *short)).require(0)
    require(re.match(r"live-target;<module> .*;", file.read_text()), file.read_text()[:200])


def check_rights(tool, directory):
    """Without root's rights: as nobody, and as a root that has none of them."""
    binary = pathlib.Path(tool()[0])
    library = re.search(r"libpyperf\S* => (\S+)", subprocess.run(["ldd", binary], check=True, text=True,
                                                                 stdout=subprocess.PIPE).stdout).group(1)
    copy = directory / binary.name
    shutil.copy(binary, copy)
    shutil.copy(library, directory)
    offsets = directory / "offsets"
    shutil.copytree(tool()[2], offsets)
    command = [str(copy), "--offsets", str(offsets), "-f", "1"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(directory)}
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    execute([*as_nobody, *command], env=environment, cwd="/").require(1, "root|CAP_")
    powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    execute([*powerless, *command], env=environment, cwd="/").require(1, "root|CAP_")


def check_commands(tool, target, directory):
    """pyperf -- COMMAND: its exit code, its words, its profile."""
    script = directory / "burns.py"
    script.write_text("import sys, time\ndef burns():\n    while time.process_time() < 1.2: sum(range(20000))\nburns()\n"
                      "print('said by the command')\nsys.exit(7)\n")
    python = target.process.args[0]
    done = execute(tool("-f", "-U", "-F", "999", "--", python, str(script))).require(7)
    require("said by the command" in done.stderr and "said by" not in done.stdout, "the command's words are in the profile")
    require(re.search(rf";<module> \({script}:4\);burns \({script}:3\) \d{{4}}\n", done.stdout), done.stdout)
    execute(tool("-f", "--", "/nonexistent/program")).require(127, "/nonexistent/program")
    execute(tool("-f", "--", str(script))).require(126, "burns.py")
    execute(tool("-f", "--", "sh", "-c", "kill -TERM $$")).require(128 + signal.SIGTERM)


def check_interrupt(tool, target, directory):
    """Ctrl-C: the results, on a screen."""
    summary = directory / "summary.json"
    for number in (signal.SIGINT, signal.SIGTERM):
        err = (directory / "err").open("w+")
        running = subprocess.Popen(tool("-U", "-F", "999", "-p", str(target.pid), "--summary-json", str(summary)),
                                   stdout=subprocess.PIPE, stderr=err, text=True, preexec_fn=die_with_parent)
        deadline = time.monotonic() + 30
        while "Ctrl-C to end." not in (directory / "err").read_text():
            require(time.monotonic() < deadline and running.poll() is None, "no header")
            time.sleep(0.05)
        time.sleep(2)
        running.send_signal(number)
        out, _ = running.communicate(timeout=30)
        err.seek(0)
        stderr = err.read()
        err.close()
        require(running.returncode == 0, f"exit code {running.returncode} after signal {number}:\n{stderr}")
        require(stderr.startswith(f"Sampling at 999 Hertz of PID {target.pid} by Python stack... Ctrl-C to end.\n"),
                f"the header:\n{stderr}")
        blocks = read_screen(out)
        counts = [block.count for block in blocks]
        require(counts == sorted(counts), f"counts do not ascend: {counts}")
        require({(block.comm, block.pid) for block in blocks} == {(target.comm, target.pid)}, "whose stacks these are")
        target.known.require_all([(block.frames, block.count) for block in blocks], samples=500)
        classes = json.loads(summary.read_text())["classes"]
        require(sum(counts) == sum(classes.values()) - classes["filtered"] - classes["idle"] - classes["lost"],
                f"{sum(counts)} ticks on the screen, {classes}")
        summary.unlink()


def check_texts(tool):
    done = execute(tool("--version")).require(0)
    require(re.match(r"pyperf \d+\.\d+", done.stdout) and not done.stderr, f"--version: {done.stdout}{done.stderr}")
    for word in ("-h", "--help"):
        done = execute(tool(word)).require(0)
        require("examples:" in done.stdout and not done.stderr, f"{word}: {done.stdout}{done.stderr}")
        require(all(len(line) <= 80 for line in done.stdout.splitlines()), f"{word} is wider than a terminal")
    done = execute(tool("--ebpf")).require(0)
    require("BPF_" in done.stdout and done.stdout.count("{") == done.stdout.count("}"), "--ebpf prints no BPF text")


def check(run):
    target = run.start("lives.py", "3600").ready()
    busy = str(target.pid)
    ended = subprocess.Popen(["true"])
    ended.wait()
    tool = run.pyperf.command
    with tempfile.TemporaryDirectory(prefix="pyperf-live-usage-") as place:
        directory = pathlib.Path(place)
        directory.chmod(0o755)
        check_words(tool, busy)
        check_targets(tool, busy, ended.pid)
        check_outputs(tool, busy, directory)
        check_rights(tool, directory)
        check_commands(tool, target, directory)
        check_interrupt(tool, target, directory)
        check_texts(tool)
