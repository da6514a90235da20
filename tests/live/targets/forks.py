"""Forks after its rehearsal; parent and child burn in places of their own: python forks.py SECONDS"""
import os
import sys

import truth

children = []


def in_parent():
    truth.burn(truth.work)


def in_child():
    truth.burn(truth.work)


def places():
    rehearsal = truth.burn is not next
    if not rehearsal and not children:
        children.append(os.fork())
    if rehearsal or children[0]:
        in_parent()
    if rehearsal or not children[0]:
        in_child()


truth.run(places, seconds=float(sys.argv[1]))
if children[0]:
    os.wait()
