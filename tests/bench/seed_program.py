"""The program that pyperf starts from (an early PyPerf for CPython 3.6), run on CPython 3.9: what does a sample cost?

Its text is read where it lies and not copied: offsets come from the layout file, addresses from the process. The text
wants a kernel tree for one member of task_struct; it gets the offset from BTF instead.
"""
import ctypes
import json
import pathlib
import re
import subprocess
import time
import tomllib

from bench import run_statistics

SYMBOLS = 16384


class OffsetConfig(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in (
        "PyObject_type", "PyTypeObject_name", "PyThreadState_frame", "PyThreadState_thread", "PyFrameObject_back",
        "PyFrameObject_code", "PyFrameObject_lineno", "PyFrameObject_localsplus", "PyCodeObject_filename",
        "PyCodeObject_name", "PyCodeObject_varnames", "PyTupleObject_item", "String_data", "String_size")]


class PidData(ctypes.Structure):
    _fields_ = [("current_state_addr", ctypes.c_uint64), ("tls_key_addr", ctypes.c_uint64),
                ("gil_locked_addr", ctypes.c_uint64), ("gil_last_holder_addr", ctypes.c_uint64),
                ("offsets", OffsetConfig)]


def program_text(path):
    text = path.read_text()
    text = text[text.index('R"(') + 3:text.rindex(')"')]
    types = json.loads(subprocess.run(["bpftool", "-j", "btf", "dump", "file", "/sys/kernel/btf/vmlinux"],
                                      capture_output=True, check=True).stdout)["types"]
    by_id = {t["id"]: t for t in types}

    def member(kind, name):
        return next(m for m in kind["members"] if m["name"] == name)

    task = next(t for t in types if t["kind"] == "STRUCT" and t["name"] == "task_struct")
    thread = member(task, "thread")
    fsbase = member(by_id[thread["type_id"]], "fsbase")
    offset = (thread["bits_offset"] + fsbase["bits_offset"]) // 8
    text = re.sub(r"#include <[^>]*>\n", "", text)
    text = text.replace("void* tls_base = (void*)task->thread.fsbase;",
                        "void* tls_base = 0; bpf_probe_read_kernel(&tls_base, sizeof(tls_base), (void*)task + %d);" % offset)
    text = text.replace("void* tls_base = (void*)task->thread.fs;", "")
    text = text.replace("struct task_struct* task = (struct task_struct*)bpf_get_current_task();",
                        "void* task = (void*)bpf_get_current_task();")
    return text.replace("__SYMBOLS_SIZE__", str(SYMBOLS))


def offsets(layout):
    item = layout["PyTupleObject"]["ob_item"]
    return OffsetConfig(
        layout["PyObject"]["ob_type"], layout["PyTypeObject"]["tp_name"], layout["PyThreadState"]["frame"],
        layout["PyThreadState"]["thread_id"], layout["PyFrameObject"]["f_back"], layout["PyFrameObject"]["f_code"], 0,
        layout["PyFrameObject"]["f_localsplus"], layout["PyCodeObject"]["co_filename"],
        layout["PyCodeObject"]["co_name"], layout["PyCodeObject"]["co_varnames"], item,
        layout["PyASCIIObject"]["sizeof"], layout["PyASCIIObject"]["length"])


def runtime_address(pid):
    """Of _PyRuntime in the process."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "libpython3" in fields[5]:
            base = int(fields[0].split("-")[0], 16) - int(fields[2], 16)
            symbols = subprocess.run(["nm", "-D", fields[5]], capture_output=True, check=True, text=True).stdout
            return base + int(re.search(r"^([0-9a-f]+) \w _PyRuntime$", symbols, re.M).group(1), 16)
    raise SystemExit(f"process {pid} maps no libpython")


def cost(source, layout_file, pid, hertz, warm_up, seconds):
    """(nanoseconds, frames) a sample, by the kernel's own statistics (kernel.bpf_stats_enabled) after the warm-up."""
    from bcc import BPF, PerfSWConfig, PerfType  # Debian's python3-bpfcc
    layout = tomllib.loads(layout_file.read_text())
    members = layout["_PyRuntimeState"]
    runtime = runtime_address(pid)
    bpf = BPF(text=program_text(source), cflags=["-DNUM_CPUS=%d" % 64, "-DPYTHON_STACK_PROG_IDX=0"])
    data = PidData(runtime + members["gilstate.tstate_current"], runtime + members["gilstate.autoTSSkey"] + 4,
                   runtime + members["ceval.gil.locked"], runtime + members["ceval.gil.last_holder"], offsets(layout))
    bpf["pid_config"][ctypes.c_int(pid)] = data
    bpf["progs"][ctypes.c_int(0)] = ctypes.c_int(bpf.load_func("read_python_stack", BPF.PERF_EVENT).fd)
    program = bpf.load_func("on_event", BPF.PERF_EVENT).fd
    statuses = {}

    class Event(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint32), ("tid", ctypes.c_uint32), ("comm", ctypes.c_char * 16),
                    ("states", ctypes.c_uint8 * 3), ("status", ctypes.c_uint8), ("length", ctypes.c_int64)]

    def on_event(_cpu, event, _size):
        got = ctypes.cast(event, ctypes.POINTER(Event)).contents
        key = (got.status, got.length)
        statuses[key] = statuses.get(key, 0) + 1

    def poll(duration):
        end = time.monotonic() + duration
        while time.monotonic() < end:
            bpf.perf_buffer_poll(timeout=100)
        return run_statistics("self", program)

    bpf["events"].open_perf_buffer(on_event, page_cnt=256)
    bpf.attach_perf_event(ev_type=PerfType.SOFTWARE, ev_config=PerfSWConfig.CPU_CLOCK, fn_name="on_event",
                          sample_freq=hertz, pid=pid)
    first = poll(warm_up)
    last = poll(seconds)
    bpf.detach_perf_event(ev_type=PerfType.SOFTWARE, ev_config=PerfSWConfig.CPU_CLOCK)
    bpf.cleanup()
    frames = sum(length * n for (_status, length), n in statuses.items()) / max(1, sum(statuses.values()))
    if last[1] <= first[1] or not frames:
        raise SystemExit(f"the seed's program saw no stacks of process {pid}")
    return (last[0] - first[0]) / (last[1] - first[1]), frames
