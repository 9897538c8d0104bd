"""Starts helper processes that are linked with musl instead of glibc, after init and a message.

GUEST CASE dynamic -- needs=musl-gcc
GUEST CASE static -static -- needs=musl-gcc
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import guest


def main():
    link = guest.Plugin().link()
    for _ in range(50 if link is not None else 0):
        link.step()
    with tempfile.TemporaryDirectory() as folder:
        helper = folder + "/inherited"
        source = Path(__file__).parent / "helper/inherited.c"
        subprocess.run(["musl-gcc", *sys.argv[1:], "-o", helper, source], check=True)
        # Both inherit all descriptors that aren't close-on-exec.
        child = os.posix_spawn(helper, [helper], os.environ)
        print("posix_spawn:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        print("fork and exec:", subprocess.run([helper], close_fds=False, restore_signals=False).returncode)
    for _ in range(50 if link is not None else 0):
        link.step()


main()
