"""What a target knows about its own stacks. Runs on every CPython from 2.7 on.

A target gives `run` its places: functions that call `truth.burn(truth.work)` wherever they want to be seen. Each is
run once as a rehearsal, in which every call and every burn notes its stack as the interpreter itself gives it
(sys.setprofile, sys._getframe). Then the target prints what it noted, and runs its places for ever, by the very same
lines: what a profile shows from then on must be one of the stacks that were noted.

Printed, as lines of JSON, nodes being stacks that share their root side (0: no frame, n: the n-th of "nodes"):
    {"functions": [[name, file, [line, ...]], ...]}  all lines that the function has
    {"nodes": [[caller's node, function, line], ...]}
    {"leaves": [[caller's node, function], ...]}     calls that were made: the leaf may be at any line of its function
    {"burns": [[node, work], ...]}                   where time is spent, leaf and line exact, and how much per round
    {"ready": pid}
"""
import codecs
import dis
import functools
import json
import os
import sys
import threading
import time


def job(function, *arguments):
    """What burn does: calls a C function from C, so that no Python frame comes between."""
    return iter(functools.partial(function, *arguments), None)


_numbers = tuple(range(20000))
work = job(sum, _numbers)  # some 0.1 ms: long against a call of a Python function, short against a tick
long_work = job(sum, _numbers * 100)
_amounts = {id(work): 1, id(long_work): 100}

_lock = threading.Lock()
_functions = []
_function_ids = {}
_nodes = []
_node_ids = {}
_leaves = set()
_burns = {}
_codes = []  # kept, so that no id() is used twice

_rehearsing = [0]
_rehearsed = threading.Condition()

_character = unichr if sys.version_info < (3,) else chr  # noqa: F821
cpu_clock = time.clock if sys.version_info < (3,) else time.process_time


def _escape_bytes(error):
    """What surrogateescape does, which 2.7 has not."""
    wrong = bytearray(error.object[error.start:error.end])
    return u"".join(_character(0xdc00 + byte) for byte in wrong), error.end


codecs.register_error("pyperf-bytes", _escape_bytes)


def text(name):
    """A name as pyperf shows it: a byte that is no UTF-8 is the surrogate that Python 3 takes it for in file names."""
    return name.decode("utf-8", "pyperf-bytes") if isinstance(name, bytes) else name


def class_of_first_argument(frame):
    """The class that pyperf shows up to 3.10: that of self, or cls itself; "" if the first argument is none of them."""
    code = frame.f_code
    if code.co_argcount == 0:
        return ""
    name = code.co_varnames[0]
    if name not in ("self", "cls"):
        return ""
    if sys.version_info >= (3,) and name in code.co_cellvars:
        return ""  # it was moved into the cell
    value = frame.f_locals.get(name)
    if value is None:
        return ""
    if name == "self":
        value = value.__class__ if sys.version_info < (3,) else type(value)
    return text(value.__name__)


def name_of(frame):
    code = frame.f_code
    if hasattr(code, "co_qualname"):
        return text(code.co_qualname)
    owner = class_of_first_argument(frame)
    return owner + u"." + text(code.co_name) if owner else text(code.co_name)


def lines_of(code):
    lines = set(line for _, line in dis.findlinestarts(code) if line is not None)
    lines.add(code.co_firstlineno)
    return sorted(lines)


def _function(frame):
    key = (id(frame.f_code), name_of(frame))
    if key not in _function_ids:
        _codes.append(frame.f_code)
        _function_ids[key] = len(_functions)
        _functions.append([key[1], text(frame.f_code.co_filename), lines_of(frame.f_code)])
    return _function_ids[key]


def _node(frame):
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    node = 0
    for frame in reversed(frames):
        function = _function(frame)
        _leaves.add((node, function))
        key = (node, function, frame.f_lineno)
        if key not in _node_ids:
            _nodes.append(key)
            _node_ids[key] = len(_nodes)
        node = _node_ids[key]
    return node


def _on_event(frame, event, _):
    if event == "call" and frame.f_code is not _note_burn.__code__:
        with _lock:
            _leaves.add((_node(frame.f_back) if frame.f_back else 0, _function(frame)))


def _note_burn(work_done):
    sys.setprofile(None)  # what this function calls is no part of the target
    with _lock:
        node = _node(sys._getframe(1))
        _burns[node] = _burns.get(node, 0) + _amounts.get(id(work_done), 1)
    sys.setprofile(_on_event)


burn = _note_burn  # next, once all have rehearsed


def repeat(place, seconds=None):
    """Runs the place for ever, or for so many seconds; the first time as a rehearsal."""
    rehearsal = True
    end = None
    while end is None or time.time() < end:
        if rehearsal:
            sys.setprofile(_on_event)
        place()
        if rehearsal:
            sys.setprofile(None)
            rehearsal = False
            _end_rehearsal()
            if seconds is not None:
                end = time.time() + seconds


def _end_rehearsal():
    global burn
    with _rehearsed:
        _rehearsing[0] -= 1
        if _rehearsing[0] == 0:
            burn = next
            _publish()
            _rehearsed.notify_all()
        while _rehearsing[0] > 0:
            _rehearsed.wait()


def _print(what):
    data = (json.dumps(what) + "\n").encode("ascii")
    while data:
        data = data[os.write(1, data):]


def _publish():
    _print({"functions": _functions})
    _print({"nodes": _nodes})
    _print({"leaves": sorted(_leaves)})
    _print({"burns": sorted(_burns.items())})
    _print({"ready": os.getpid()})


def run(main, threads=(), seconds=None):
    """Runs `main` here and each of `threads` in a thread of its own, for ever or for so many seconds."""
    _rehearsing[0] = 1 + len(threads)
    for place in threads:
        thread = threading.Thread(target=repeat, args=(place, seconds))
        thread.daemon = True
        thread.start()
    repeat(main, seconds)
