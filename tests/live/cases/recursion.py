"""1,000 calls deep, every frame; deeper than any walk, the leaf side with a mark."""
from failure import require
from known_stacks import show

MARK = "[truncated]"
FRAMES_PROMISED = 1024


def check(run):
    target = run.start("recursion.py", "1000").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2")
    target.known.require_all(profile.stacks(), samples=300)
    sent, stacks = profile.summary["records"], profile.summary["stacks"]
    require(profile.summary["limits"]["stacks_resent"] == 0 and profile.summary["limits"]["records_dropped"] == 0,
            f"there was not room for all: {profile.summary['limits']}")
    # Two CPUs may meet a new one at once; else each goes once, however often it is seen.
    require(stacks <= sent["stacks"] <= stacks * 1.2 + 8, f"{stacks} stacks took {sent['stacks']} records")
    codes = profile.summary["code_objects"]
    require(codes <= sent["code_objects"] <= codes * 1.5 + 8, f"{codes} code objects took {sent['code_objects']} records")
    target.stop()

    target = run.start("recursion.py", "1600").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2")
    stacks = profile.stacks()
    verdict = target.known.judge([stack for stack in stacks if stack[0][0] != MARK])
    require(not verdict.strange, f"stacks that never existed: {[show(frames) for frames in verdict.strange]}")
    require(sum(verdict.burns.values()) >= 100, f"{verdict.burns} samples where there is no need to truncate")
    truncated = [(frames[1:], count) for frames, count in stacks if frames[0] == MARK]
    deep = max((target.known.path(node) for node in target.known.burns), key=len)
    seen = 0
    for frames, count in truncated:
        # A leaf that has not begun is no frame, but the walk had to take it for one.
        require(len(frames) >= FRAMES_PROMISED - 1, f"a stack of {len(frames)} frames is truncated")
        if frames == deep[-len(frames):]:
            seen += count
        else:  # on its way down or up: the leaf is at another line
            callers = frames[:-1]
            require(any(deep[start:start + len(callers)] == callers for start in range(1, len(deep) - len(callers)))
                    and frames[-1].startswith("down ("),
                    f"{count} x a truncated stack that never existed:\n      {show(frames)}")
    require(seen >= 100, f"{seen} samples of the truncated stack")
