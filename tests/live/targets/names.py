# -*- coding: utf-8 -*-
"""Names and files of every kind of text, also such that would break a line of output."""
import ast
import sys

import truth

TEXTS = [
    u"caf\xe9_\xfc\xdf\xff",
    u"\u0444\u0443\u043d\u043a\u0446\u0438\u044f",
    u"\u51fd\u6570\u540d",
    u"\U0001f40d\U0001f600",
    u"mixed a\xe9\u0444\u51fd\U0001f40d",
    u"semi;colon;",
    u"new\nline\r\ttab",
    u"back\\slash\\n\\x41",
    u"nothing (here:1)",
    u"count 12",
    u"[truncated]",
    u"\x1b[31mred\x1b[0m\x07\x7f",
    u"c1\x85\x9b31m",
    u"separators\u2028\u2029",
    u"right\u202eto\u2066left\u200f",
    u"</script>&amp;%s%n{}",
    u"\ufffd \ufffdxe9 \ufffdud83d",
    u" ",
    u"n" * 250,
]

FUNCTION = """
def name():
    burn(work)
"""
SOURCE = """
class Name(object):
    def name(self):
        burn(work)

def name():
    Name().name()
"""
# Longer than what is sent with a sample: the rest is fetched. Every place in them is different.
LONG_NAMES = [
    u"".join(u"%d," % number for number in range(500)),
    u"".join(u"\u51fd%d," % number for number in range(500)),
]
# Its line table is longer than what is sent with a sample, and its last line is right only with the whole table.
LONG_FUNCTION = """
def name():
    x = 0
""" + "".join("    x = %d\n" % (number % 7) for number in range(6000)) + """
    burn(work)
"""


def native(text):
    return text.encode("utf-8") if sys.version_info < (3,) else text


def place(name, file, source=SOURCE):
    """A function, a class and its method of this name, in this file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if getattr(node, "name", "").lower() == "name":
            node.name = name
        if isinstance(node, ast.Name) and node.id == "Name":
            node.id = name + ("class" if sys.version_info >= (3,) else b"class")
        if isinstance(node, ast.Attribute):
            node.attr = name
        if isinstance(node, ast.ClassDef):
            node.name += "class" if sys.version_info >= (3,) else b"class"
    space = {"burn": lambda work: None, "work": truth.work}
    eval(compile(tree, file, "exec"), space)
    return space, name


PLACES = [place(native(text), native(u"/" + text + u"/" + text + u".py")) for text in TEXTS]
if sys.version_info < (3,):
    PLACES.append(place(b"bytes \xe9\xff\xc3", b"/bytes \xfe.py"))
    PLACES.append(place(b"bytes \xe9\xff\xc4", b"/bytes \xfd\xc3\xa9.py"))
else:
    # How Python 3 keeps file names that are no UTF-8; these two differ in nothing else.
    PLACES.append(place("bytes", u"/bytes \udce9\udcff.py"))
    PLACES.append(place("bytes", u"/bytes \udce8\udcff.py"))
    PLACES.append(place(u"surrogates \ud83d", u"/surrogates \udc7f\ud83d.py", FUNCTION))
PLACES.append(place("nul\0inside", "nul.py", FUNCTION))  # a class cannot be called so
PLACES += [place(native(name), "/long_name.py", FUNCTION) for name in LONG_NAMES]
PLACES.append(place("long_function", "/long_function.py", LONG_FUNCTION))
PLACES.append(place("long_path", "/directory" * 90 + "/file.py"))


def places():
    for space, name in PLACES:
        space["burn"] = truth.burn
        space[name]()


try:
    with open("/proc/self/comm", "wb") as comm:
        comm.write(u";\u0444\\\n\x1b(".encode("utf-8"))
except (IOError, OSError):
    pass
truth.run(places)
