"""Python restores the fault signals' defaults at its end, before the plugin's exit handler runs.

GUEST CASE exit exit -- env.PYTHONFAULTHANDLER=1 repeat=5
GUEST CASE exception exception -- env.PYTHONFAULTHANDLER=1 status=1
GUEST CASE traffic traffic -- env.PYTHONFAULTHANDLER=1 repeat=3
GUEST CASE real_fault fault -- env.PYTHONFAULTHANDLER=1 status=-11
"""

import ctypes
import sys
import time

import guest

plugin = guest.Plugin()
if sys.argv[1] == "exception":
    raise ValueError("the host's own")
link = plugin.link()
if sys.argv[1] == "traffic" and link is not None:
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        link.step()
if sys.argv[1] == "fault":
    ctypes.string_at(8)
