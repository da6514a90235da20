"""Stacks of many frames: python recursion.py DEPTH"""
import sys

import truth

DEPTH = int(sys.argv[1])
sys.setrecursionlimit(DEPTH + 2000)


def down(depth):
    if depth:
        down(depth - 1)
    else:
        truth.burn(truth.long_work)


class Through(object):
    """As deep as C's own stack allows, with a call from C in each second step."""

    def python(self, depth):
        if depth:
            return max(map(self.from_c, [depth - 1]))
        truth.burn(truth.long_work)
        return 0

    def from_c(self, depth):
        return self.python(depth - 1) if depth else self.python(0)


def places():
    down(DEPTH)
    Through().python(200)


truth.run(places)
