"""A target of the benchmarks: DEPTH Python frames in all, the leaf of them busy. stack_depth.py DEPTH"""
import sys


def busy():
    n = 0
    while True:
        n += 1
        if n > 1000000:
            n = 0


def call(depth):
    if depth:
        call(depth - 1)
    else:
        busy()


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 100)
call(depth - 3)
