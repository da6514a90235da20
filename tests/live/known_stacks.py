"""The stacks that a target can have, by its own account (targets/truth.py), and what a profile of it shows.

A closed world: a stack that the target did not note is a stack that never existed.
"""
import collections
import math

from failure import require

PLACEHOLDERS = {
    "[no Python frames]": "no_python_frames",
    "[torn Python stack]": "torn",
    "[interpreter not set up]": "not_set_up",
    "[not Python]": "not_python",
    "[stale code object]": "stale_code",
}
UNSUPPORTED = "[unsupported Python: "


def placeholder_class(text):
    """The class of ticks that a placeholder stands for; None: it is a frame."""
    if text.startswith(UNSUPPORTED) and text.endswith("]"):
        return "unsupported"
    return PLACEHOLDERS.get(text)


def show(frames):
    if len(frames) > 12:
        frames = [*frames[:6], f"... {len(frames) - 12} frames ...", *frames[-6:]]
    return "\n      ".join(frames)


class Verdict:
    def __init__(self):
        self.burns = collections.Counter()  # by node
        self.transitions = 0
        self.placeholders = collections.Counter()
        self.strange = collections.Counter()

    @property
    def total(self):
        return sum(self.burns.values()) + self.transitions + sum(self.placeholders.values()) + \
            sum(self.strange.values())


class KnownStacks:
    def __init__(self, said):
        functions = said["functions"]

        def frame(function, line):
            name, file, _ = functions[function]
            return f"{name} ({file}:{line or '?'})"  # a module's first instruction has line 0

        self.nodes = [(None, None)]  # caller's node, text of the frame
        self.children = collections.defaultdict(dict)
        for number, (parent, function, line) in enumerate(said["nodes"], 1):
            text = frame(function, line)
            self.nodes.append((parent, text))
            self.children[parent][text] = number
        self.leaves = collections.defaultdict(set)
        for parent, function in said["leaves"]:
            self.leaves[parent].update(frame(function, line) for line in functions[function][2])
        self.burns = dict(said["burns"])

    def path(self, node):
        frames = []
        while node:
            node, text = self.nodes[node]
            frames.append(text)
        return frames[::-1]

    def judge(self, stacks):
        """stacks: pairs of Python frames, root first, and count."""
        verdict = Verdict()
        for frames, count in stacks:
            kind = placeholder_class(frames[0]) if len(frames) == 1 else None
            if kind:
                verdict.placeholders[kind] += count
                continue
            parent = 0
            for text in frames[:-1]:
                parent = self.children[parent].get(text)
                if parent is None:
                    break
            if parent is None:
                verdict.strange[tuple(frames)] += count
                continue
            node = self.children[parent].get(frames[-1])
            if node in self.burns:
                verdict.burns[node] += count
            elif frames[-1] in self.leaves[parent]:
                verdict.transitions += count
            else:
                verdict.strange[tuple(frames)] += count
        return verdict

    def require_all(self, stacks, burning=0.9, even=True, samples=0, unseen=0.005):
        """Every stack is one of the target's, and every place where it burns time is seen.

        burning: share of the samples that must lie in these places; even: each place has the share that its work
        says; samples: so many there must be; unseen: share of the samples that may have no stack.
        """
        verdict = self.judge(stacks)
        total = verdict.total
        if verdict.strange:
            shown = [f"    {count} x {show(frames)}\n    {self.nearest(frames)}"
                     for frames, count in verdict.strange.most_common(5)]
            require(False, f"{len(verdict.strange)} stacks ({sum(verdict.strange.values())} of {total} samples) "
                           "that never existed:\n" + "\n".join(shown))
        require(total >= samples, f"{total} samples of the target, at least {samples} were expected")
        noise = sum(verdict.placeholders.values())
        require(noise <= 3 + unseen * total, f"{dict(verdict.placeholders)} of {total} samples without a stack")
        burnt = sum(verdict.burns.values())
        require(burnt >= burning * total,
                f"only {burnt} of {total} samples where the target spends its time ({verdict.transitions} between)")
        work = sum(self.burns.values())
        for node, amount in self.burns.items():
            seen = verdict.burns[node]
            expected = burnt * amount / work
            where = f"{seen} samples, {expected:.0f} expected, of\n      {show(self.path(node))}"
            require(seen > 0 or expected < 10, where)
            if even:
                require(abs(seen - expected) <= 5 * math.sqrt(expected) + 0.15 * expected, where)
        return verdict

    def nearest(self, frames):
        """Where a strange stack leaves what is known."""
        parent = 0
        for depth, text in enumerate(frames):
            below = self.children[parent].get(text)
            if below is None:
                known = sorted({*self.children[parent], *(self.leaves[parent] if depth + 1 == len(frames) else ())})
                return f"frame {depth + 1} of {len(frames)} is {text!r}; known there: {known[:8]}"
            parent = below
        return "known, but not as a leaf"
