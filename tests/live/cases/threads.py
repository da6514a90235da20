"""Eight threads beside the main one, each with its own stack; kernel frames on top; a sleeper that gets nothing."""
from failure import require
from profile_run import kernel_by_annotation


def check(run):
    target = run.start("threads.py").ready()
    profile = run.pyperf.profile("-a", "-p", str(target.pid), "-F", "999", "3", is_kernel=kernel_by_annotation)
    target.known.require_all(profile.stacks(is_kernel=kernel_by_annotation), even=False, samples=500)

    in_kernel = in_python = in_read = 0
    for line in profile.lines:
        python, kernel = line.split_kernel(kernel_by_annotation)
        require(all(map(kernel_by_annotation, kernel)), f"a Python frame above the kernel's: {line.frames}")
        if python[-1].startswith("read_zeros "):
            in_kernel += line.count if kernel else 0
            in_python += 0 if kernel else line.count
            in_read += line.count if any(frame.endswith("sys_read_[k]") for frame in kernel) else 0
    require(in_read >= 30, f"{in_read} samples of read(2)")
    require(in_kernel > 4 * in_python, f"reading: {in_kernel} samples with kernel frames, {in_python} without")
    require(in_read > 0.5 * in_kernel, f"reading: {in_read} samples of read(2), {in_kernel} of the kernel")
