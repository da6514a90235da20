"""Generators, coroutines, comprehensions, lambdas, protocols, exec, callbacks from C 25 levels deep."""


def check(run):
    target = run.start("constructs.py").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "3")
    target.known.require_all(profile.stacks(), samples=500)
