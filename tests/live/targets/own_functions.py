"""Threads that burn, each in a function of its own, and say which thread that is: {"thread_NAME": tid}."""
import os
import threading

import truth

told = set()


def tell(name):
    """Says once that this thread is the one of this name."""
    if name not in told:
        told.add(name)
        if hasattr(threading, "get_native_id"):
            tid = threading.get_native_id()
        else:
            tid = int(os.readlink("/proc/thread-self").split("/")[-1])
        truth._print({"thread_" + name: tid})


def only_of_main():
    tell("main")
    truth.burn(truth.work)


def only_of_first():
    tell("first")
    truth.burn(truth.work)


def only_of_second():
    tell("second")
    truth.burn(truth.work)


truth.run(only_of_main, [only_of_first, only_of_second])
