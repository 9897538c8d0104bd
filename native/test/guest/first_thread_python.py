"""Python recurses deeply on its first thread after init.

GUEST CASE pickle pickle 5000
GUEST CASE repr repr 5000 -- stack=unlimited
GUEST CASE json json 5000 -- stack=65536
"""

import json
import pickle
import sys

import guest

DEPTH = int(sys.argv[2])
WALKS = {"pickle": pickle.dumps, "repr": repr, "json": json.dumps}


def main():
    plugin = guest.Plugin()
    sys.setrecursionlimit(4 * DEPTH)
    nested = []
    for _ in range(DEPTH):
        nested = [nested]
    print(len(WALKS[sys.argv[1]](nested)))
    plugin.control()


main()
