"""The main thread and eight more that burn, each by a path of its own, one in the kernel, and one that sleeps."""
import io
import threading
import time

import truth

# Some milliseconds in the kernel, for which the GIL is released, and no memory to be got and given back.
ZEROS = truth.job(io.FileIO("/dev/zero").readinto, bytearray(16 << 20))


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
