"""Code objects at addresses where others were: shown as they are, or as stale, never as what was there before."""
import re

from failure import require
from known_stacks import show

FRAME = re.compile(r"(outer|inner)_(\d+) \(file_(\d+):(\d+)\)$")


def check(run):
    target = run.start("code_reuse.py").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "3")
    named = stale = total = 0
    for frames, count in profile.stacks():
        total += count
        if frames == ["[stale code object]"]:
            stale += count
            continue
        matches = [FRAME.match(frame) for frame in frames]
        numbers = {group for match in matches if match for group in match.group(2, 3)}
        require(len(numbers) <= 1, f"{count} x code of several functions:\n      {show(frames)}")
        for match in matches:
            if match:
                kind, number, _, line = match.groups()
                first = int(number) + (2 if kind == "outer" else 4)
                require(first <= int(line) <= first + 1, f"{count} x {match.group()}: no such line")
        if numbers and matches[-1] and matches[-1].group(1) == "inner":
            require([bool(match) for match in matches[-3:]] == [False, True, True], f"{count} x\n      {show(frames)}")
            named += count
    require(total >= 500, f"{total} samples")
    require(stale <= total // 2, f"{stale} of {total} samples are stale")
    require(named >= total // 4, f"{named} of {total} samples have the function that ran")
