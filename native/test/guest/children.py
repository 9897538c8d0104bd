"""Starts workers by each of multiprocessing's methods, after init and a message.

GUEST CASE fork fork
GUEST CASE forkserver forkserver
GUEST CASE spawn spawn
"""

import multiprocessing
import os
import sys


def work(number):
    return number * number


def main():
    import guest

    link = guest.Plugin().link()
    for _ in range(50 if link is not None else 0):
        link.step()
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        print(pool.map(work, range(8)))
    child = context.Process(target=os._exit, args=(3,))
    child.start()
    child.join(30)
    print(child.exitcode)
    for _ in range(50 if link is not None else 0):
        link.step()


if __name__ == "__main__":
    main()
