#!/usr/bin/env python3
"""Feeds a BGP receiver with IPv6 host routes from several peers at once, and tells how long it takes to have them all.

Everything runs in a network namespace of its own. The receivers are the route daemon and BIRD, one after the other, on
the same bytes: prebuilt UPDATEs with path bandwidth and colour, 391 sets of attributes, packed or one prefix each.
Prints one JSON line per run: seconds from the first byte until the receiver says that it has every route, its CPU time,
its resident memory and, for the daemon, its heap as the operating system sees it.
"""
import argparse, json, os, socket, struct, subprocess, sys, tempfile, time

PEERS = 4
RECEIVER = 'fd00:ff::2'
AS = 65100
SETS = 391


def message(kind, body=b''):
    return b'\xff' * 16 + struct.pack('!HB', 19 + len(body), kind) + body


def open_message(asn, router_id):
    capabilities = b'\x01\x04\x00\x02\x00\x01' + b'\x02\x00' + b'\x41\x04' + struct.pack('!I', asn)
    return message(1, b'\x04' + struct.pack('!HH', asn, 90) + socket.inet_aton(router_id)
                   + bytes([len(capabilities) + 2, 2, len(capabilities)]) + capabilities)


def prefix(index):
    return b'\x80' + bytes.fromhex('fd000009') + struct.pack('!I', index) + bytes(7) + b'\x01'


def update(asn, next_hop, nlri, gbps):
    reach = struct.pack('!HBB', 2, 1, 16) + socket.inet_pton(socket.AF_INET6, next_hop) + b'\x00' + nlri
    attributes = (b'\x90\x0e' + struct.pack('!H', len(reach)) + reach + b'\x40\x01\x01\x00'
                  + b'\x40\x02\x06\x02\x01' + struct.pack('!I', asn)
                  + b'\xc0\x10\x10' + bytes.fromhex('0180c0a80101') + struct.pack('!H', gbps)
                  + bytes.fromhex('030b000000000007'))
    return message(2, b'\x00\x00' + struct.pack('!H', len(attributes)) + attributes)


def feed_bytes(peer, routes, packed):
    per = 200 if packed else 1
    asn, next_hop = 65001 + peer, 'fd00:fe::1'
    return b''.join(update(asn, next_hop, b''.join(prefix(k) for k in range(base, min(base + per, routes))),
                           100 + (base // 200) % SETS) for base in range(0, routes, per)) \
        + message(2, bytes.fromhex('00000006800f03000201'))


class Feeder:
    def __init__(self, peer):
        self.socket = socket.socket(socket.AF_INET6)
        self.socket.bind(('fd00:ff::1%d' % peer, 0))
        limit = time.time() + 20
        while True:
            try:
                self.socket.connect((RECEIVER, 179))
                break
            except OSError:
                if time.time() > limit:
                    raise
                time.sleep(0.1)
        self.socket.sendall(open_message(65001 + peer, '10.0.0.%d' % (peer + 1)) + message(4))
        got, kinds = b'', []
        while 4 not in kinds:
            got += self.socket.recv(65536)
            while len(got) >= 19 and len(got) >= struct.unpack('!H', got[16:18])[0]:
                length, kind = struct.unpack('!HB', got[16:19])
                kinds.append(kind)
                got = got[length:]


def cpu_seconds(pid):
    fields = open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def memory_mb(pid):
    lines = dict(line.split(':', 1) for line in open('/proc/%d/status' % pid) if ':' in line)
    return {key: int(lines[key].split()[0]) / 1024 for key in ('VmRSS', 'RssAnon', 'RssShmem')}


def heddle(folder, java):
    config = os.path.join(folder, 'bgp.conf')
    with open(config, 'w') as out:
        out.write('as = %d\nrouter-id = 10.0.9.9\nannounce = no\npublish-after-ms = 0\npublish = %s/routes\ncontrol = %s/sock\n' % (AS, folder, folder))
        for peer in range(PEERS):
            out.write('[peer p%d]\naddress = fd00:ff::1%d\nas = %d\nplane = p%d\npassive = yes\nhold-time-s = 90\n'
                      % (peer, peer, 65001 + peer, peer))
    process = subprocess.Popen(java + ['bgp', 'run', '--config', config], stderr=open(folder + '/log', 'w'))

    def count():
        try:
            with socket.socket(socket.AF_UNIX) as ask:
                ask.connect(folder + '/sock')
                ask.sendall(b'daemon\n')
                answer = b''
                while True:
                    part = ask.recv(65536)
                    if not part:
                        break
                    answer += part
            daemon = json.loads(answer)
            return sum(peer['routes'] for peer in daemon['neighbours'])
        except OSError:
            return -1
    return process, count


def bird(folder):
    config = folder + '/bird.conf'
    with open(config, 'w') as out:
        out.write('router id 10.0.9.9;\nprotocol device {}\n')
        for peer in range(PEERS):
            out.write('protocol bgp p%d { local %s as %d; neighbor fd00:ff::1%d as %d; multihop; passive; ipv6 { import all; export none; }; }\n'
                      % (peer, RECEIVER, AS, peer, 65001 + peer))
    process = subprocess.Popen(['bird', '-f', '-c', config, '-s', folder + '/ctl', '-P', folder + '/pid'])

    def count():
        answer = subprocess.run(['birdc', '-s', folder + '/ctl', 'show', 'route', 'count'], capture_output=True, text=True).stdout
        for line in answer.splitlines():
            if 'in table master6' in line:
                return int(line.split(' of ')[0].split()[-1])
        return -1
    return process, count


def run(kind, routes, packed, java):
    with tempfile.TemporaryDirectory() as folder:
        process, count = heddle(folder, java) if kind == 'heddle' else bird(folder)
        try:
            feeds = [feed_bytes(peer, routes, packed) for peer in range(PEERS)]
            while count() < 0:
                time.sleep(0.1)
            feeders = [Feeder(peer) for peer in range(PEERS)]
            time.sleep(1)
            before_cpu, before_memory = cpu_seconds(process.pid), memory_mb(process.pid)
            children = []
            start = time.time()
            for feeder, data in zip(feeders, feeds):
                pid = os.fork()
                if pid == 0:
                    feeder.socket.sendall(data)
                    os._exit(0)
                children.append(pid)
            while count() < PEERS * routes:
                if time.time() - start > 60:
                    raise SystemExit('%s has only %d routes after a minute' % (kind, count()))
                time.sleep(0.005)
            took = time.time() - start
            for pid in children:
                os.waitpid(pid, 0)
            time.sleep(0.5)
            memory = memory_mb(process.pid)
            print(json.dumps({'receiver': kind, 'peers': PEERS, 'routes_a_peer': routes, 'packed': packed, 'seconds': round(took, 3),
                              'cpu_seconds': round(cpu_seconds(process.pid) - before_cpu, 2),
                              'memory_mb': {key: round(value, 1) for key, value in memory.items()},
                              'memory_before_mb': {key: round(value, 1) for key, value in before_memory.items()}}), flush=True)
        finally:
            process.terminate()
            process.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument('--routes', type=int, default=100_000)
    arguments.add_argument('--rounds', type=int, default=3)
    arguments.add_argument('--inside', action='store_true', help=argparse.SUPPRESS)
    arguments.add_argument('java', nargs='+', help='the command that runs heddle')
    options = arguments.parse_args()
    if not options.inside:
        os.execvp('unshare', ['unshare', '--net', sys.executable, os.path.abspath(__file__), '--inside', '--routes', str(options.routes),
                              '--rounds', str(options.rounds), '--'] + options.java)
    subprocess.run('ip link set lo up; ip addr add %s/128 dev lo; for i in 0 1 2 3; do ip addr add fd00:ff::1$i/128 dev lo; done'
                   % RECEIVER, shell=True, check=True)
    time.sleep(0.5)
    for _ in range(options.rounds):
        for packed in (True, False):
            for kind in ('heddle', 'bird'):
                run(kind, options.routes, packed, options.java)


if __name__ == '__main__':
    main()
