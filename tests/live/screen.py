"""Reads what pyperf shows on a screen: blocks of frames, leaf first, in the form of profile(8)."""
import re

from failure import require

OWNER = re.compile(r"    -                (.*) \((\d+)\)$")
COUNT = re.compile(r"        (\d+)$")


class Block:
    def __init__(self, frames, comm, pid, count):
        self.frames = frames  # root first
        self.comm = comm
        self.pid = pid
        self.count = count


def read_screen(text):
    blocks = []
    for block in text.split("\n\n"):
        if not block:
            continue
        *frames, owner, count = block.split("\n")
        owner, count = OWNER.match(owner), COUNT.match(count)
        require(owner and count, f"not a block of frames, owner and count:\n{block}")
        require(all(frame.startswith("    ") and frame[4:5] not in ("", " ") for frame in frames),
                f"frames that are not indented by four spaces:\n{block}")
        blocks.append(Block([frame[4:] for frame in reversed(frames)], owner.group(1), int(owner.group(2)),
                            int(count.group(1))))
    return blocks
