# SPDX-License-Identifier: Apache-2.0
# Prints the line tables of code objects and the interpreter's own answer for every instruction. Runs under every
# CPython from 2.7 to 3.15, the oldest syntax included: it is run by the interpreter that is asked.
#
#   PYTHON - program < line_tables.py     of the programs in this file, one for each construct
#   PYTHON - stdlib [FRACTION] < line_tables.py    of the whole standard library, or of each FRACTIONth file
#
# Output, for each code object:
#   code NAME FORMAT FIRST_LINE STEP
#   table HEX                     (a single - if empty)
#   lines COUNTxLINE ...          one for each STEP bytes of bytecode; LINE is - where the interpreter gives none
# The answer is PyCode_Addr2Line's; where ctypes is missing, co_lines()'s. Where both can be had they must agree.
import binascii
import os
import sys
import types

try:
    import ctypes

    addr2line = ctypes.pythonapi.PyCode_Addr2Line
    addr2line.argtypes = [ctypes.py_object, ctypes.c_int]
    addr2line.restype = ctypes.c_int
except (ImportError, AttributeError):
    addr2line = None

VERSION = sys.version_info[:2]
STEP = 1 if VERSION < (3, 6) else 2


def line_format():
    if VERSION < (3, 6):
        return "lnotab_unsigned"
    if VERSION < (3, 10):
        return "lnotab_signed"
    return "pep626_pairs" if VERSION == (3, 10) else "locations"


def lines_by_co_lines(code):
    lines = [None] * (len(code.co_code) // STEP)
    for start, end, line in code.co_lines():
        for at in range(start // STEP, end // STEP):
            lines[at] = line
    return lines


def lines_of(code):
    if addr2line is None:
        return lines_by_co_lines(code)
    lines = [addr2line(code, at) for at in range(0, len(code.co_code), STEP)]
    if VERSION < (3, 10):
        return lines
    # The function's -1 may be a line in theory; co_lines() tells.
    told = lines_by_co_lines(code)
    for own, other in zip(lines, told):
        if own != (-1 if other is None else other):
            sys.exit("PyCode_Addr2Line and co_lines() differ in %s" % code.co_name)
    return told


def run_lengths(lines):
    runs = []
    for line in lines:
        if runs and runs[-1][1] == line:
            runs[-1][0] += 1
        else:
            runs.append([1, line])
    return " ".join("%dx%s" % (count, "-" if line is None else line) for count, line in runs)


def show(code):
    table = code.co_lnotab if VERSION < (3, 10) else code.co_linetable
    name = "".join(c if c.isalnum() or c in "_<>." else "?" for c in code.co_name)
    text = "code %s %s %d %d\ntable %s\nlines %s\n" % (
        name.encode("ascii", "replace").decode("ascii"),
        line_format(),
        code.co_firstlineno,
        STEP,
        binascii.hexlify(table).decode("ascii") or "-",
        run_lengths(lines_of(code)),
    )
    sys.stdout.write(text)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant)


# What each construct does to a line table: calls and expressions over many lines (negative deltas), jumps of more than
# 127 and 255 lines, code of more than 255 bytes on one line, code without a line (exception handlers, from 3.10).
BASE = (
    """
import os
class Base(object):
    attribute = [
        1,
        2]
    def method(self, a,
               b=3):
        return self.other(
            a,
            b,
            c=(a +
               b),
        )
    @staticmethod
    @property
    def decorated(x):
        return x
    class Inner:
        def __init__(self):
            self.x = \\
                1
def many(a, b):
    try:
        with open(
            a
        ) as f, open(b) as g:
            for line in f:
                if line: continue
                else:
                    break
            else:
                g.write("x")
    except (OSError,
            ValueError) as e:
        raise RuntimeError(
            e)
    except Exception:
        pass
    finally:
        os.close(
            1)
    while a:
        a -= 1
        if a > 5 and \\
           b < 3:
            return [
                x
                for x in range(
                    a)
                if x
            ]
    return (lambda x:
            x +
            1)(
        {k: v
         for k, v in
         zip(a, b)})
def generator(n):
    for i in range(n):
        yield (
            i)
    g = (x for x in
         range(3))
    x = yield
    return
def far():
    a = 1
"""
    + "\n" * 130
    + "    b = (\n"
    + "\n" * 300
    + "        f(a,\n"
    + "\n" * 200
    + "          a) + a)\n    return b\n"
    + "def wide(a):\n    return ["
    + "a + 1, " * 120
    + "]\n"
    + "def long_loop(a):\n    for i in a:\n"
    + "".join("        a[%d] = a[%d] + 1\n" % (i, i + 1) for i in range(40))
    + "def call_wide(a):\n    return a(\n        "
    + "a, " * 200
    + "\n    )\n"
)
SINCE = [
    (
        (3, 6),
        """
async def coroutine(a):
    async with a as b:
        async for c in b:
            await c(
                c)
    return [
        d async for d in
        a
        if await d]
def annotated(a: int,
              *,
              k: str = "x") -> int:
    nonlocal_ = 1
    def inner():
        nonlocal nonlocal_
        nonlocal_ = (
            f"{a}"
            f"{k!r:>{nonlocal_}}")
    try:
        raise a from \\
            None
    finally:
        del a
""",
    ),
    ((3, 8), "def walrus(a, /):\n    while (\n        b := a(\n            1)):\n        print(\n            b)\n"),
    (
        (3, 10),
        """
def matched(a):
    match a:
        case [1,
              x]:
            return x
        case {"k": v,
              **rest} if v > 1:
            return rest
        case Base(attribute=1) | \\
             None:
            pass
        case _:
            raise ValueError(
                a)
    with (
        open(a) as b,
        open(b) as c,
    ):
        return b
""",
    ),
    (
        (3, 11),
        """
def grouped(a):
    try:
        a()
    except* (OSError,
             ValueError) as e:
        print(e)
    except* TypeError:
        raise
    finally:
        a(
            1)
""",
    ),
    ((3, 12), "def generic[T: (int,\n            str)](x: T) -> T:\n    type A[U] = list[\n        U]\n    return x\n"),
    ((3, 14), 'def template(a):\n    return t"{a}" \\\n        t"{a\n        }"\n'),
]


def program():
    sys.stdout.write("# Made by line_tables.py under CPython %s; one code object of three lines each.\n" % sys.version.split()[0])
    for since, text in [((2, 7), BASE)] + SINCE:
        if VERSION >= since:
            show(compile(text, "program", "exec"))


def stdlib(fraction):
    for root, folders, files in os.walk(os.path.dirname(os.__file__)):
        folders[:] = sorted(set(folders) - {"site-packages", "dist-packages", "__pycache__"})
        for name in sorted(files)[:: fraction]:
            if not name.endswith(".py"):
                continue
            path = os.path.join(root, name)
            try:
                with open(path, "rb") as source:
                    code = compile(source.read(), path, "exec", 0, True)
            except (SyntaxError, ValueError, TypeError, RecursionErrors):
                continue  # files that are wrong on purpose, for the standard library's own tests
            show(code)


RecursionErrors = RecursionError if VERSION >= (3, 5) else RuntimeError
if __name__ == "__main__":
    if sys.argv[1] == "program":
        program()
    else:
        import warnings

        warnings.simplefilter("ignore")
        stdlib(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
