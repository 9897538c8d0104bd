"""Sends frames that no UDP socket can send, COUNT of each kind: odd-frames.py INTERFACE SOURCE TARGET TARGET_MAC COUNT

The kinds are: a packet to port 4791 for a queue pair that doesn't exist, with a tag of priority 3 and without a VLAN; this
packet in VLAN 5; and its first half as a fragment, whose second half is never sent.
"""

import socket
import struct
import sys

interface, source, target, mac, count = sys.argv[1:]
ROCE = 4791
IPV6, TAGGED, UDP, FRAGMENT = 0x86DD, 0x8100, 17, 44

raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(IPV6))
raw.bind((interface, 0))
own = raw.getsockname()[4]
ends = bytes.fromhex(mac.replace(":", "")) + own

roce = struct.pack("!IIII", 0x0400FFFF, 0, 0, 0)
udp = struct.pack("!HHHH", 50000, ROCE, 8 + len(roce), 0) + roce  # without a checksum, as rxe sends packets


def ip(next_header, payload):
    fixed = struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64)
    return fixed + socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, target) + payload


def fragment(number):
    return ip(FRAGMENT, struct.pack("!BBHI", UDP, 0, 1, number) + udp[:16])


for i in range(int(count)):
    raw.send(ends + struct.pack("!HHH", TAGGED, 3 << 13, IPV6) + ip(UDP, udp))
    raw.send(ends + struct.pack("!HHH", TAGGED, 5, IPV6) + ip(UDP, udp))
    raw.send(ends + struct.pack("!H", IPV6) + fragment(i))
print("sent", count)
