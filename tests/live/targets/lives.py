"""Burns for some seconds, then ends or becomes another program: python lives.py SECONDS [PROGRAM ARGUMENT...]"""
import os
import sys

import truth


def inner():
    truth.burn(truth.work)


def outer():
    inner()


truth.run(lambda: outer(), seconds=float(sys.argv[1]))
if sys.argv[2:]:
    os.execv(sys.argv[2], sys.argv[2:])
