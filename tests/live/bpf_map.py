"""BPF maps that are pinned, as those of bcc's --cgroupmap and --mntnsmap, by the bpf system call."""
import ctypes
import os
import pathlib
import platform
import struct
import subprocess
import tempfile

from failure import Missing
from target import libc

SYS_BPF = {"x86_64": 321, "aarch64": 280}
MAP_CREATE, MAP_UPDATE, OBJECT_PIN = 0, 2, 6
HASH = 1
ENTRIES = 128


def bpf(command, attributes):
    number = SYS_BPF.get(platform.machine())
    if number is None:
        raise Missing(f"the bpf system call of {platform.machine()}")
    text = ctypes.create_string_buffer(attributes, 128)
    result = libc.syscall(ctypes.c_long(number), ctypes.c_long(command), text, ctypes.c_long(len(text)))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}: {os.strerror(ctypes.get_errno())}")
    return result


class PinnedMaps:
    """A BPF file system of its own in a temporary directory, and hash maps in it."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="pyperf-live-bpf-")
        subprocess.run(["mount", "-t", "bpf", "bpf", self.directory.name], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.directory.name], check=True)
        self.directory.cleanup()

    def pin(self, name, value_bytes, keys):
        """A map from u64 to values of so many bytes with these keys. Gives its path."""
        path = str(pathlib.Path(self.directory.name) / name)
        fd = bpf(MAP_CREATE, struct.pack("=IIIII", HASH, 8, value_bytes, ENTRIES, 0))
        try:
            value = ctypes.create_string_buffer(value_bytes)
            for number in keys:
                key = ctypes.c_uint64(number)
                bpf(MAP_UPDATE, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
            text = ctypes.create_string_buffer(os.fsencode(path))
            bpf(OBJECT_PIN, struct.pack("=QII", ctypes.addressof(text), fd, 0))
        finally:
            os.close(fd)
        return path
