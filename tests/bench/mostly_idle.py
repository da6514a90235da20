"""A target of the benchmarks: a server with little to do."""
import time


def handle(n):
    return sum(i * i for i in range(n))


def serve():
    n = 0
    while True:
        n += 1
        handle(n % 5000)
        time.sleep(0.01)


serve()
