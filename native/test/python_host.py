"""A Python process loads the plugin, as a training job does, and keeps its own signal handling.

Usage: python_host.py CASE PLUGIN JAVA_STRESS, both libraries by path. Exits with 0 if the case passes.
"""

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import time

INIT = 1
DEVICES = 2
GET_PROPERTIES = 3
LISTEN = 4


class Plugin:
    """The version 12 table, in the order of its entries."""

    def __init__(self, path):
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.slots = (ctypes.c_void_p * 22).in_dll(library, "ncclNetPlugin_v12")
        config = ctypes.c_int(-1)
        self.context = ctypes.c_void_p()
        function = self.function(INIT, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        result = function(ctypes.addressof(self.context), 1, ctypes.addressof(config), None, None)
        assert result == 0, f"init returned {result}"

    def function(self, slot, *types):
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(self.slots[slot])

    def use(self):
        count = ctypes.c_int()
        result = self.function(DEVICES, ctypes.c_void_p)(ctypes.addressof(count))
        assert result == 0 and count.value > 0, f"devices returned {result}, count {count.value}"

    def listen(self):
        """Makes a control-path call, so that the plugin checks the signal handlers; it fails, as the device doesn't exist."""
        handle = ctypes.create_string_buffer(128)
        comm = ctypes.c_void_p()
        types = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        result = self.function(LISTEN, *types)(self.context, 9999, ctypes.addressof(handle), ctypes.addressof(comm))
        assert result != 0, "listen on device 9999 succeeded"


def stress(path, milliseconds):
    result = ctypes.CDLL(path).java_stress(milliseconds)
    assert result == 0, f"java_stress failed at step {result}"


def faulthandler_before(plugin, java_stress):
    faulthandler.enable()
    host = Plugin(plugin)
    host.use()
    stress(java_stress, 700)
    host.use()


def faulthandler_after(plugin, java_stress):
    host = Plugin(plugin)
    faulthandler.enable()
    host.listen()
    stress(java_stress, 700)
    host.use()


def faulthandler_twice(plugin, java_stress):
    host = Plugin(plugin)
    for _ in range(3):
        faulthandler.enable()
        host.listen()
        stress(java_stress, 200)
        faulthandler.disable()
        host.listen()
        stress(java_stress, 200)
    host.use()


def real_fault(plugin, java_stress):
    """A crash of the host is still reported by the host's own handler."""
    if os.environ.get("TEST_CHILD") is None:
        environment = dict(os.environ, TEST_CHILD="1")
        options = environment.get("HEDDLE_JVM_OPTIONS", "")
        environment["HEDDLE_JVM_OPTIONS"] = options + " -XX:+SuppressFatalErrorMessage"
        child = subprocess.run([sys.executable, *sys.argv], env=environment, capture_output=True, text=True, timeout=60)
        assert child.returncode < 0, f"the child survived a null read with {child.returncode}"
        assert "Segmentation fault" in child.stderr and "real_fault" in child.stderr, child.stderr
        return
    host = Plugin(plugin)
    faulthandler.enable()
    host.listen()
    stress(java_stress, 200)
    ctypes.string_at(8)


def keyboard_interrupt(plugin, java_stress):
    host = Plugin(plugin)
    host.use()
    for _ in range(3):
        subprocess.Popen(["/bin/sh", "-c", f"sleep 0.2; kill -INT {os.getpid()}"])
        try:
            time.sleep(10)
        except KeyboardInterrupt:
            continue
        raise AssertionError("ten seconds without a KeyboardInterrupt")
    host.use()


def expect_signal(number, name, plugin):
    seen = []
    signal.signal(number, lambda number, frame: seen.append(number))
    host = Plugin(plugin)
    for count in (1, 2):
        subprocess.Popen(["/bin/sh", "-c", f"sleep 0.2; kill -{name} {os.getpid()}"])
        deadline = time.monotonic() + 10
        while len(seen) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert seen == [number] * count, f"the handler saw {seen}"
    host.use()


def terminate(plugin, java_stress):
    expect_signal(signal.SIGTERM, "TERM", plugin)


def user_signals(plugin, java_stress):
    """Batch systems announce a job's time limit by one of these."""
    expect_signal(signal.SIGUSR1, "USR1", plugin)
    expect_signal(signal.SIGHUP, "HUP", plugin)


def second_user_signal(plugin, java_stress):
    expect_signal(signal.SIGUSR2, "USR2", plugin)


if __name__ == "__main__":
    case = sys.argv[1].replace("-", "_")
    globals()[case](sys.argv[2], sys.argv[3])
    print(f"ok: {case}")
