"""-L: of threads that burn side by side, each in a function of its own, exactly the wanted ones are shown."""
from failure import require

THREADS = ["main", "first", "second"]


def names_on(frames):
    """Of which threads there are functions on the stack."""
    return {name for name in THREADS for frame in frames if frame.startswith(f"only_of_{name} ")}


def require_only(run, target, wanted):
    tids = ",".join(str(target.said[f"thread_{name}"]) for name in wanted)
    profile = run.pyperf.profile("-U", "-L", tids, "-F", "999", "1")
    verdict = target.known.judge(profile.stacks())
    said = f"with -L of {wanted}"
    require(not verdict.strange, f"{said}: stacks that never existed: {verdict.strange.most_common(2)}")
    seen = dict.fromkeys(wanted, 0)
    for frames, count in profile.stacks():
        names = names_on(frames)
        require(names <= set(wanted), f"{said}: {count} samples of another's stack: {frames}")
        for name in names:
            seen[name] += count
    for name, count in seen.items():
        require(count >= 40, f"{said}: {count} samples of {name}: {profile.stacks()}")
    total = sum(count for _, count in profile.stacks())
    lost = sum(verdict.placeholders.values())
    require(lost <= 3 + 0.01 * total, f"{said}: {dict(verdict.placeholders)} of {total} samples without a stack")
    # The other threads are as busy as these.
    classes = profile.summary["classes"]
    require(classes["filtered"] >= 40, f"{said}: {classes}")


def check(run):
    target = run.start("own_functions.py").ready()
    tids = [target.said[f"thread_{name}"] for name in THREADS]
    require(len(set(tids)) == len(tids) and tids[0] == target.pid, f"process {target.pid} has threads {tids}")
    for name in THREADS:
        require_only(run, target, [name])
    require_only(run, target, ["first", "main"])
