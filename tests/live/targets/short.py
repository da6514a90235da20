"""A script of 30 ms; says how much CPU time its function took."""
import sys
import time

clock = time.clock if sys.version_info < (3,) else time.process_time
numbers = tuple(range(20000))


def short():
    begin = clock()
    while clock() - begin < 0.03:
        sum(numbers)
    return clock() - begin


print(short())
