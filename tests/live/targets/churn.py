"""Enters and leaves functions as fast as it can: samples fall where frames are made and taken apart."""
import functools

import truth


class Point(object):
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def length(self):
        return self.x + self.y


class Derived(Point):
    def __init__(self, x):
        super(Derived, self).__init__(x, x)

    def __call__(self, value):
        return value


def empty():
    pass


def counting(limit):
    for number in range(limit):
        yield number


def closure(value):
    def inner():
        return value
    return inner


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def with_arguments(first, second=2, *others, **named):
    return first


def churn():
    for _ in range(10):
        empty()
        Point(1, 2).length()
        Derived(1)(2)
        closure(1)()
        for number in counting(3):
            empty()
        sum(number for number in counting(3))
        sorted([3, 1, 2], key=lambda number: number)
        functools.reduce(lambda a, b: a + b, [1, 2, 3])
        list(map(Derived(1), [1, 2]))
        with_arguments(1, 2, 3, name=4)
        with_arguments(*[1, 2, 3], **{"name": 4})
        fibonacci(5)
        [empty() for number in range(2)]


def places():
    churn()


truth.run(places)
