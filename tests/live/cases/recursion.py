"""1,000 calls deep, every frame; deeper than any walk, the leaf side with a mark."""
from failure import require

MARK = "[truncated]"
FRAMES_PROMISED = 1024


def check(run):
    target = run.start("recursion.py", "1000").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2")
    target.known.require_all(profile.stacks(), samples=300)
    target.stop()

    target = run.start("recursion.py", "2500").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "2")
    stacks = profile.stacks()
    target.known.require_all([stack for stack in stacks if stack[0][0] != MARK], burning=0.5, even=False)
    truncated = [(frames[1:], count) for frames, count in stacks if frames[0] == MARK]
    paths = [target.known.path(node) for node in target.known.burns]
    seen = 0
    for frames, count in truncated:
        require(len(frames) >= FRAMES_PROMISED, f"a stack of {len(frames)} frames is truncated")
        if any(path[-len(frames):] == frames for path in paths):
            seen += count
        else:  # on its way down or up: all frames but the leaf are those of the one long path
            long_path = max(paths, key=len)
            require(frames[-2] == long_path[-3], f"{count} x a truncated stack that never existed, {frames[-3:]}")
    require(seen >= 100, f"{seen} samples of the truncated stack")
