"""A target of the benchmarks with the time in its stack: at_3_11_N is busy in the Nth 1/100 s of the monotonic clock."""
import sys
import time

kept = []  # code objects that are freed would give their addresses to others


def run():
    while True:
        number = int(time.monotonic() * 100)
        name = "at_%d_%d_%d" % (sys.version_info[0], sys.version_info[1], number)
        names = {"monotonic": time.monotonic}
        exec("def " + name + "(end):\n    while monotonic() < end: pass", names)
        kept.append(names[name])
        names[name]((number + 1) / 100)


run()
