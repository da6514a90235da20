"""Burns, and maps another executable file all the time."""
import mmap
import os
import tempfile
import time

import truth

kept = []
folder = tempfile.mkdtemp()
due = [0]


def map_another():
    if time.time() < due[0]:
        return
    due[0] = time.time() + 0.1
    name = os.path.join(folder, "file%d" % len(kept))
    with open(name, "wb") as made:
        made.write(b"\0" * 4096)
    with open(name, "rb") as made:
        kept.append(mmap.mmap(made.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    os.unlink(name)


def main():
    map_another()
    truth.burn(truth.work)


truth.run(main)
