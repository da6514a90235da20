"""The main thread and eight more that burn, each by a path of its own, one in the kernel, and one that sleeps."""
import os
import threading
import time

import truth

ZEROS = truth.job(os.read, os.open("/dev/zero", os.O_RDONLY), 1 << 20)


def path(depth):
    if depth:
        path(depth - 1)
    else:
        truth.burn(truth.work)


def thread_place(depth):
    return lambda: path(depth)


def read_zeros():
    truth.burn(ZEROS)


def sleep():
    """Has no rehearsal: whatever is seen of it was never noted."""
    while True:
        time.sleep(3600)


sleeper = threading.Thread(target=sleep)
sleeper.daemon = True
sleeper.start()
truth.run(lambda: path(0), [thread_place(depth) for depth in range(1, 9)] + [read_zeros])
