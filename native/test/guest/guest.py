"""Code that the Python programs of this folder share: the plugin by its version 12 table, like guest.h for C."""

import ctypes as c
import os
import time

SLOTS = (
    "name init devices get_properties listen connect accept reg reg_dma_buf dereg isend irecv iflush test close_send"
    " close_receive close_listen"
).split()

class Link:
    """A connection of the process with itself, and a buffer at either end."""

    def __init__(self, plugin, size):
        self.plugin, self.size = plugin, size
        handle, listener = c.create_string_buffer(128), c.c_void_p()
        plugin.must("listen", plugin.context, 0, handle, c.byref(listener))
        self.send, self.receive = c.c_void_p(), c.c_void_p()
        while not (self.send.value and self.receive.value):
            if not self.send.value:
                plugin.must("connect", plugin.context, 0, handle, c.byref(self.send), None)
            if not self.receive.value:
                plugin.must("accept", listener, c.byref(self.receive), None)
            time.sleep(0.0005)
        plugin.must("close_listen", listener)
        # Never freed: programs end with a message in flight, as after an exception, and its bytes may still land.
        c.pythonapi.PyMem_RawMalloc.restype = c.c_void_p
        self.source, self.sink = (
            (c.c_char * size).from_address(c.pythonapi.PyMem_RawMalloc(c.c_size_t(size))) for _ in range(2)
        )
        self.source_memory, self.sink_memory = c.c_void_p(), c.c_void_p()
        plugin.must("reg", self.send, self.source, c.c_size_t(size), 1, c.byref(self.source_memory))
        plugin.must("reg", self.receive, self.sink, c.c_size_t(size), 1, c.byref(self.sink_memory))
        self.sent = self.received = None

    def step(self):
        """Starts a message if none is in flight, and tests it once."""
        if self.received is None:
            data = (c.c_void_p * 1)(c.addressof(self.sink))
            size, tag = (c.c_size_t * 1)(self.size), (c.c_int * 1)(7)
            memory, request = (c.c_void_p * 1)(self.sink_memory.value), c.c_void_p()
            self.plugin.must("irecv", self.receive, 1, data, size, tag, memory, None, c.byref(request))
            self.received = request.value
        if self.sent is None:
            request = c.c_void_p()
            arguments = (self.source, c.c_size_t(self.size), 7, self.source_memory, None, c.byref(request))
            self.plugin.must("isend", self.send, *arguments)
            self.sent = request.value
        done, sizes = c.c_int(), (c.c_int * 8)()
        if self.received:
            self.plugin.must("test", c.c_void_p(self.received), c.byref(done), sizes)
            self.received = None if done.value else self.received
        if self.sent:
            self.plugin.must("test", c.c_void_p(self.sent), c.byref(done), sizes)
            self.sent = None if done.value else self.sent


class Plugin:
    """The plugin, initialised; without it, every call is skipped."""

    def __init__(self):
        path = os.environ.get("GUEST_PLUGIN")
        self.is_here = path is not None
        if not self.is_here:
            return
        library = c.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.table = (c.c_void_p * 22).in_dll(library, "ncclNetPlugin_v12")
        # The logger is a C function, since the plugin may log after Python has ended.
        logger = c.cast(c.CDLL(os.environ["GUEST_LIBRARY"]).guest_log, c.c_void_p)
        self.context = c.c_void_p()
        config = c.c_int(-1)
        self.must("init", c.byref(self.context), c.c_uint64(1), c.byref(config), logger, None)
        count = c.c_int()
        self.must("devices", c.byref(count))
        assert count.value > 0

    def call(self, name, *arguments):
        return c.CFUNCTYPE(c.c_int)(self.table[SLOTS.index(name)])(*arguments)

    def must(self, name, *arguments):
        result = self.call(name, *arguments)
        assert result == 0, f"{name} returned {result}"

    def control(self):
        """Makes a control-path call, which is refused."""
        if self.is_here:
            handle, listener = c.create_string_buffer(128), c.c_void_p()
            assert self.call("listen", self.context, 9999, handle, c.byref(listener)) != 0

    def link(self, size=1 << 16):
        return Link(self, size) if self.is_here else None
