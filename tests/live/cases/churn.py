"""Frames that come and go millions of times a second: no stack that never existed, almost none torn."""


def check(run):
    target = run.start("churn.py").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "4999", "3")
    # 3.11 and 3.12 have some instructions, at each generator's yield, at which the chain of frames is open.
    target.known.require_all(profile.stacks(), burning=0, samples=2000, unseen=0.015)
