"""Every way in which Python code is entered: each must show exactly the frames that the interpreter has."""
import functools
import sys

import truth


def plain():
    truth.burn(truth.work)


def several_lines(first, second):
    return (first +
            plain_value(
                second) or
            truth.burn(
                truth.work))


def plain_value(value):
    truth.burn(truth.work)
    return value


def generator(depth):
    if depth:
        for value in generator(depth - 1):
            truth.burn(truth.work)
            yield value
    for value in range(2):
        truth.burn(truth.work)
        yield value


def comprehensions():
    [truth.burn(truth.work) for _ in range(2)]
    {plain_value(value): truth.burn(truth.work) for value in range(2)}
    set(plain_value(value) for value in range(2))
    [[truth.burn(truth.work) for _ in range(1)] for _ in range(2)]
    sum(plain_value(value) for value in (value for value in range(2)))


def lambdas():
    outer = lambda value: (lambda: truth.burn(truth.work) or value)()
    outer(1)
    list(map(lambda value: truth.burn(truth.work), range(2)))


class Sorted(object):
    """Callbacks from C and type calls, each inside the one before."""

    def __init__(self, depth):
        self.depth = depth
        truth.burn(truth.work)
        if depth:
            self.inner = self.descend()
        truth.burn(truth.work)

    def descend(self):
        kind = self.depth % 5
        if kind == 0:
            return sorted([self.depth], key=self.key)
        if kind == 1:
            return list(map(lambda depth: Sorted(depth - 1), [self.depth]))
        if kind == 2:
            return functools.reduce(self.reduce, [1, 2])
        if kind == 3:
            return type(self)(self.depth - 1)
        return functools.partial(Sorted, self.depth - 1)()

    def key(self, value):
        return Sorted(value - 1).depth

    def reduce(self, first, second):
        return Sorted(self.depth - 1)

    def __len__(self):
        truth.burn(truth.work)
        return 1

    def __add__(self, other):
        return truth.burn(truth.work)

    def __getattr__(self, name):
        truth.burn(truth.work)
        return 1

    def __enter__(self):
        truth.burn(truth.work)

    def __exit__(self, *_):
        truth.burn(truth.work)

    @property
    def value(self):
        return truth.burn(truth.work)

    @classmethod
    def made(cls):
        return truth.burn(truth.work)

    @staticmethod
    def still():
        return truth.burn(truth.work)

    def captured(self):
        def inner():
            return self or truth.burn(truth.work)
        inner()
        return truth.burn(truth.work)


class Derived(Sorted):
    def __init__(self):
        super(Derived, self).__init__(0)
        truth.burn(truth.work)

    def __new__(cls):
        truth.burn(truth.work)
        return super(Derived, cls).__new__(cls)


def protocols():
    thing = Derived()
    len(thing)
    thing + 1
    thing.missing
    with thing:
        truth.burn(truth.work)
    thing.value
    Derived.made()
    thing.still()
    thing.captured()


def class_body():
    class Body(object):
        truth.burn(truth.work)

        class Inner(object):
            truth.burn(truth.work)


def exceptions():
    try:
        try:
            raise_after_burn()
        finally:
            truth.burn(truth.work)
    except ValueError:
        truth.burn(truth.work)


def raise_after_burn():
    truth.burn(truth.work)
    raise ValueError


EXECUTED = compile("""
def executed():
    truth.burn(truth.work)

executed()
truth.burn(truth.work)
""", "<made by exec>", "exec")
EVALUATED = compile("[truth.burn(truth.work)]", "<made by eval>", "eval")


def exec_code():
    eval(EXECUTED, {"truth": truth})
    eval(EVALUATED, {"truth": truth})


COROUTINES = """
async def leaf():
    truth.burn(truth.work)

async def chain(depth):
    if depth:
        await chain(depth - 1)
    else:
        await leaf()
    truth.burn(truth.work)

async def numbers():
    for number in range(2):
        truth.burn(truth.work)
        yield number

class Waiting:
    def __await__(self):
        truth.burn(truth.work)
        yield
        truth.burn(truth.work)

async def both():
    async for number in numbers():
        truth.burn(truth.work)
    [truth.burn(truth.work) async for number in numbers()]
    await chain(4)
    await Waiting()

def coroutines():
    coroutine = both()
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        truth.burn(truth.work)
"""


def delegating(depth):
    """yield from, which 2.7 does not have."""
    yield
    truth.burn(truth.work)


if sys.version_info >= (3,):
    space = {"truth": truth}
    eval(compile(COROUTINES, "coroutines.py", "exec"), space)
    eval(compile("""
def delegating(depth):
    if depth:
        yield from delegating(depth - 1)
        truth.burn(truth.work)
    else:
        yield
        truth.burn(truth.work)
""", "delegating.py", "exec"), space)
    coroutines = space["coroutines"]
    delegating = space["delegating"]
else:
    def coroutines():
        truth.burn(truth.work)


def places():
    plain()
    several_lines(
        0,
        0)
    for _ in generator(3):
        truth.burn(truth.work)
    for _ in delegating(3):
        truth.burn(truth.work)
    comprehensions()
    lambdas()
    Sorted(25)
    protocols()
    class_body()
    exceptions()
    exec_code()
    coroutines()


truth.run(places)
