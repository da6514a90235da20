"""The options that choose whose ticks are shown: these are shown, and the others' are counted as filtered."""
import contextlib
import os
import pathlib
import tempfile

from bpf_map import PinnedMaps
from failure import Missing, require

SECONDS = 1
FEW = 40  # samples of a target that has a part of a CPU


def busy(run, comm, **options):
    return run.start("lives.py", "3600", comm=comm, **options).ready()


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Missing("a second CPU")
    return cpus[:2]


def require_only(run, wanted, others, *options):
    """Shows each of the wanted, and nothing else at all."""
    before = [target.cpu_seconds() for target in others]
    profile = run.pyperf.profile("-U", "-F", "999", *options, str(SECONDS))
    said = " ".join(options)
    require(all(target.cpu_seconds() > cpu for target, cpu in zip(others, before)), "the others do not run")
    shown = {line.comm for line in profile.lines}
    require(shown == {target.comm for target in wanted}, f"{said}: of {sorted(shown)} there are lines")
    for target in wanted:
        target.known.require_all(profile.stacks(target.comm), samples=FEW, even=False)
    return profile


def require_filtered(profile):
    """The others' ticks were counted, as filtered."""
    classes = profile.summary["classes"]
    require(classes["filtered"] >= FEW, f"the others' ticks are not counted: {classes}")


def check_pids(run):
    targets = [busy(run, f"live-{name}") for name in ("one", "two", "three")]
    one, two, three = targets
    require_filtered(require_only(run, [one, three], [two], "-p", f"{one.pid},{three.pid}"))
    require_filtered(require_only(run, [two], [one, three], "-p", str(two.pid)))
    for target in targets:
        target.stop()


def check_cpus(run):
    cpus = two_cpus()
    targets = []
    for cpu in cpus:
        targets.append(busy(run, f"live-cpu-{len(targets)}"))
        os.sched_setaffinity(targets[-1].pid, [cpu])
    pids = ",".join(str(target.pid) for target in targets)
    for number, cpu in enumerate(cpus):
        mine, other = targets[number], targets[1 - number]
        profile = require_only(run, [mine], [other], "-p", pids, "-C", str(cpu))
        # Its clock goes on while a target is on it; of all CPUs there would be twice as many.
        ticks, seconds = profile.summary["ticks"], profile.summary["duration_seconds"]
        require(0.85 * 999 * seconds <= ticks <= 1.1 * 999 * seconds, f"{ticks} ticks of one CPU in {seconds} s")
    for target in targets:
        target.stop()


@contextlib.contextmanager
def new_cgroup():
    """An empty cgroup below the root of version 2's tree."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind = line.split(" ")[:3]
        if kind == "cgroup2":
            break
    else:
        raise Missing("cgroups of version 2")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="pyperf-live-", dir=place))
    try:
        yield directory
    finally:
        directory.rmdir()


def check_cgroups(run, maps):
    outside = busy(run, "live-outside")
    with new_cgroup() as cgroup:
        inside = busy(run, "live-inside")
        try:
            (cgroup / "cgroup.procs").write_text(str(inside.pid))
            path = maps.pin("cgroups", 8, [cgroup.stat().st_ino])
            require_filtered(require_only(run, [inside], [outside], "--cgroupmap", path))
            profile = run.pyperf.profile("-U", "-F", "999", "--cgroupmap", maps.pin("no_cgroup", 8, []), "1")
            require(not profile.lines, f"with an empty map: {len(profile.lines)} lines")
            require_filtered(profile)
        finally:
            inside.stop()
    outside.stop()


def check_mount_namespaces(run, maps):
    outside = busy(run, "live-outside")
    inside = busy(run, "live-inside", by=["unshare", "--mount"])
    namespaces = [os.stat(f"/proc/{target.pid}/ns/mnt").st_ino for target in (inside, outside)]
    require(namespaces[0] != namespaces[1], "one mount namespace for both")
    # The map's values are of four bytes, the kernel's numbers of namespaces as well; its keys are of eight.
    path = maps.pin("namespaces", 4, namespaces[:1])
    require_filtered(require_only(run, [inside], [outside], "--mntnsmap", path))
    with_pid = ["--mntnsmap", path, "-p", f"{inside.pid},{outside.pid}"]
    require_filtered(require_only(run, [inside], [outside], *with_pid))
    both = ",".join(str(target.pid) for target in (inside, outside))
    require_only(run, [inside, outside], [], "--mntnsmap", maps.pin("both", 4, namespaces), "-p", both)


def check(run):
    check_pids(run)
    check_cpus(run)
    with PinnedMaps() as maps:
        check_cgroups(run, maps)
        check_mount_namespaces(run, maps)
