"""What scripts/demo profiles: a program whose time is spent 60/30/10 in three functions, on one thread of three."""
import threading
import time


def parse(rounds):
    total = 0
    for i in range(rounds):
        total += i * i % 7
    return total


def render(rounds):
    total = 0
    for i in range(rounds):
        total ^= i << 3
    return total


def store(rounds):
    total = 0
    for i in range(rounds):
        total += i
    return total


def share(function, seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        function(500)


class Server:
    def serve(self):
        while True:
            share(parse, 0.06)
            share(render, 0.03)
            share(store, 0.01)


def wait():
    while True:
        time.sleep(60)


if __name__ == "__main__":
    for _ in range(2):
        threading.Thread(target=wait, daemon=True).start()
    Server().serve()
