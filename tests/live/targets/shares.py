"""Three functions that get 60, 30 and 10 hundredths of the process's CPU time, in slots of 2 ms; sleepers beside."""
import random
import threading
import time

import truth

SLOT_SECONDS = 0.002


def sixty():
    truth.burn(truth.work)


def thirty():
    truth.burn(truth.work)


def ten():
    truth.burn(truth.work)


def order():
    """Shuffled in tens, so that no tick rate can be in step with it."""
    shuffle = random.Random(1).shuffle
    functions = []
    for _ in range(100):
        block = [sixty] * 6 + [thirty] * 3 + [ten]
        shuffle(block)
        functions += block
    return functions


ORDER = order()
slot_end = [0.0]


def places():
    if truth.burn is not next:  # the rehearsal
        sixty()
        thirty()
        ten()
        return
    end = truth.cpu_clock()
    for function in ORDER:
        end += SLOT_SECONDS  # absolute: a slot that began late is not the longer for it
        while truth.cpu_clock() < end:
            function()


def sleep():
    while True:
        time.sleep(3600)


def nap():
    """Wakes up ten times a second for some microseconds."""
    while True:
        time.sleep(0.1)


for function in (sleep, sleep, nap):
    sleeper = threading.Thread(target=function)
    sleeper.daemon = True
    sleeper.start()
truth.run(places)
