#!/usr/bin/env python3
"""Feeds a BGP receiver with IPv6 host routes from several peers at once, and measures the time until it has them all.

Everything runs in a separate network namespace, on its loopback interface. The receivers are the route daemon and
BIRD, in turn, on the same feed. Senders are BIRDs, one per peer, or this program with prebuilt UPDATEs. Feeds:

  packed    routes share 391 sets of path bandwidth and colour in runs of 200 (BIRD as sender: one set), so that an
            UPDATE has many routes
  unpacked  neighbouring routes differ in their set, so that each needs its own UPDATE
  aggregate one covering route per peer instead, and 100 hosts announced as unreachable (BIRD as sender)

Time runs from the first route that the receiver has until the last: for the route daemon until every cell of the
mapped routes file is there, for BIRD until it counts every route as imported. With prebuilt UPDATEs it runs from the
first byte sent. Prints one JSON line per run: seconds, CPU time, and memory a moment after the last route: VmRSS is
everything resident, including pages of mapped files (libraries, the routes file); Pss counts pages that several
processes share proportionally; VmHWM is the peak of VmRSS. With the whole table there, the route daemon fed by
prebuilt UPDATEs then gets 200 single changes: microseconds from the UPDATE to the changed cell in the file.
"""
import argparse, array, json, mmap, os, random, re, signal, socket, struct, subprocess, sys, tempfile, time

PEERS = 4
RECEIVER = 'fd00:ff::2'
AS = 65100
SETS = 391
RUN = 200
LIMIT = 60
EXCEPTIONS = 100
CHANGES = 200


def sender_address(peer):
    return 'fd00:ff::1%d' % peer


def gbps(index, packed):
    return 100 + (index // RUN if packed else index) % SETS


def prefix_bytes(index):
    return b'\x80' + bytes.fromhex('fd000009') + struct.pack('!I', index) + bytes(7) + b'\x01'


def prefix_text(index):
    return 'fd00:9:%x:%x::1/128' % (index >> 16, index & 0xffff)


# --- senders -------------------------------------------------------------------------------------

def message(kind, body=b''):
    return b'\xff' * 16 + struct.pack('!HB', 19 + len(body), kind) + body


def open_message(asn, router_id):
    capabilities = b'\x01\x04\x00\x02\x00\x01' + b'\x02\x00' + b'\x41\x04' + struct.pack('!I', asn)
    return message(1, b'\x04' + struct.pack('!HH', asn, 90) + socket.inet_aton(router_id)
                   + bytes([len(capabilities) + 2, 2, len(capabilities)]) + capabilities)


def update(asn, next_hop, nlri, bandwidth):
    reach = struct.pack('!HBB', 2, 1, 16) + socket.inet_pton(socket.AF_INET6, next_hop) + b'\x00' + nlri
    attributes = (b'\x90\x0e' + struct.pack('!H', len(reach)) + reach + b'\x40\x01\x01\x00'
                  + b'\x40\x02\x06\x02\x01' + struct.pack('!I', asn)
                  + b'\xc0\x10\x10' + bytes.fromhex('0180c0a80101') + struct.pack('!H', bandwidth)
                  + bytes.fromhex('030b000000000007'))
    return message(2, b'\x00\x00' + struct.pack('!H', len(attributes)) + attributes)


class Prebuilt:
    """Sender in this program, with every UPDATE built beforehand."""

    def __init__(self, peer, routes, feed, folder):
        packed = feed == 'packed'
        asn, per = 65001 + peer, RUN if packed else 1
        self.data = b''.join(
            update(asn, 'fd00:fe::1', b''.join(prefix_bytes(k) for k in range(base, min(base + per, routes))),
                   gbps(base, packed)) for base in range(0, routes, per)) + message(2, bytes.fromhex('00000006800f03000201'))
        self.peer, self.asn, self.child = peer, asn, 0

    def meet(self):
        self.socket = socket.socket(socket.AF_INET6)
        self.socket.bind((sender_address(self.peer), 0))
        limit = time.time() + 20
        while True:
            try:
                self.socket.connect((RECEIVER, 179))
                break
            except OSError:
                if time.time() > limit:
                    raise
                time.sleep(0.1)
        self.socket.sendall(open_message(self.asn, '10.0.0.%d' % (self.peer + 1)) + message(4))
        got, kinds = b'', []
        while 4 not in kinds:
            got += self.socket.recv(65536)
            while len(got) >= 19 and len(got) >= struct.unpack('!H', got[16:18])[0]:
                length, kind = struct.unpack('!HB', got[16:19])
                kinds.append(kind)
                got = got[length:]

    def begin(self):
        self.child = os.fork()
        if self.child == 0:
            self.socket.sendall(self.data)
            os._exit(0)

    def prod(self):
        pass

    def end(self):
        if self.child:
            os.waitpid(self.child, 0)
        self.socket.close()


class Bird:
    """Sender that is a BIRD with static routes. Its session is created when the feed begins."""

    def __init__(self, peer, routes, feed, folder):
        packed = feed == 'packed'

        def sets(index):
            return 'bgp_ext_community.add((generic, 0x0180c0a8, 0x%08x));' % (0x01010000 | gbps(index, packed))
        self.control, config = '%s/s%d.ctl' % (folder, peer), '%s/s%d.conf' % (folder, peer)
        with open(config, 'w') as out:
            out.write('router id 10.0.0.%d;\nprotocol device {}\nprotocol static feed { ipv6;\n' % (peer + 1))
            if feed == 'aggregate':
                out.write('route fd00:9::/32 unreachable { %s };\n' % sets(0))
                for index in range(0, routes, max(1, routes // EXCEPTIONS)):
                    out.write('route %s unreachable { bgp_ext_community.add((generic, 0x0180c0a8, 0x01010000)); };\n' % prefix_text(index))
            for index in range(0 if feed == 'aggregate' else routes):
                out.write('route %s unreachable%s;\n' % (prefix_text(index), '' if packed else ' { %s }' % sets(index)))
            out.write('}\nprotocol bgp feeding { disabled; local %s port %d as %d; neighbor %s as %d; multihop; hold time 90;\n'
                      'connect delay time 1; connect retry time 1;\n'
                      'ipv6 { import none; next hop self; export filter { %s bgp_ext_community.add((generic, 0x030b0000, 7)); accept; }; }; }\n'
                      % (sender_address(peer), 1790 + peer, 65001 + peer, RECEIVER, AS, sets(0) if packed else ''))
        self.process = subprocess.Popen(['bird', '-f', '-c', config, '-s', self.control, '-P', '%s/s%d.pid' % (folder, peer)])
        await_bird(self.process, self.control)

    def meet(self):
        pass

    def begin(self):
        query_bird(self.control, 'enable feeding')

    def prod(self):
        """Wakes BIRD's loop: BIRD may otherwise delay the end of a dump by up to 3 s."""
        query_bird(self.control, 'show status')

    def end(self):
        self.process.terminate()
        self.process.wait()


def query_bird(control, question):
    """Returns BIRD's answer, without birdc, whose start would take time."""
    try:
        with socket.socket(socket.AF_UNIX) as ask:
            ask.connect(control)
            ask.sendall((question + '\n').encode())
            answer = b''
            # A greeting of lines, of which the last has a space after its number.
            while not re.search(rb'\n\d{4} [^\n]*\n$', answer):
                part = ask.recv(65536)
                if not part:
                    break
                answer += part
            return answer.decode()
    except OSError:
        return ''


def await_bird(process, control):
    while not query_bird(control, 'show status'):
        if process.poll() is not None:
            raise SystemExit('BIRD has ended; what it said is above')
        time.sleep(0.05)


# --- receivers -----------------------------------------------------------------------------------

class RoutesFile:
    """Reader of the route daemon's routes file. RoutesLayout in plane-routes describes the format."""

    def __init__(self, path):
        self.path, self.map = path, None

    def complete(self, routes):
        """Returns None while the file has no routes, then whether every plane has every route."""
        self.open()
        if self.map is None:
            return None
        entries = self.u32(60)
        if entries == 0:
            return None
        if entries < routes:
            return False
        slots, size, first = self.u32(56), self.u32(52), self.first()
        for slot in range(0, slots, max(1, slots // 97)):
            at = first + slot * size
            if self.u32(at + 16) and not all(self.u32(at + 24 + 4 * plane) for plane in range(PEERS)):
                return False
        words = array.array('I', self.map[first:first + slots * size])
        return all(words[6 + plane::size // 4].count(0) == slots - entries for plane in range(PEERS))

    def first(self):
        return (512 + 160 * self.u32(44) + 4095) // 4096 * 4096

    def open(self):
        if self.map is None or self.u32(16) == 2:
            try:
                with open(self.path, 'rb') as file:
                    self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            except (OSError, ValueError):
                pass  # The file doesn't exist yet.

    def change(self, sender):
        """Sends an UPDATE for one of the routes. Returns the microseconds until the route's cell has changed."""
        size, first = self.u32(52), self.first()
        while True:
            at = first + random.randrange(self.u32(56)) * size
            if self.u32(at + 16):
                break
        high, low = struct.unpack_from('<QQ', self.map, at)
        before = self.u32(at + 24 + 4 * sender.peer)
        data = update(sender.asn, 'fd00:fe::1', b'\x80' + struct.pack('!QQ', high, low), 600 + random.randrange(9000))
        began = time.monotonic()
        sender.socket.sendall(data)
        while self.u32(at + 24 + 4 * sender.peer) == before:
            os.sched_yield()  # else a daemon woken on this processor waits for the end of our time slice
            if time.monotonic() - began > 5:
                raise SystemExit('a change did not arrive')
        return int((time.monotonic() - began) * 1e6)

    def u32(self, at):
        return struct.unpack_from('<I', self.map, at)[0]


def heddle(folder, java):
    config = os.path.join(folder, 'bgp.conf')
    with open(config, 'w') as out:
        out.write('as = %d\nrouter-id = 10.0.9.9\nannounce = no\npublish-after-ms = 0\npublish = %s/routes\ncontrol = %s/sock\n' % (AS, folder, folder))
        for peer in range(PEERS):
            out.write('[peer p%d]\naddress = %s\nas = %d\nplane = p%d\npassive = yes\nhold-time-s = 90\n'
                      % (peer, sender_address(peer), 65001 + peer, peer))
    process = subprocess.Popen(java + ['bgp', 'run', '--config', config], stderr=open(folder + '/log', 'w'))
    file = RoutesFile(folder + '/routes')
    while not os.path.exists(folder + '/sock') or not os.path.exists(folder + '/routes'):
        if process.poll() is not None:
            raise SystemExit(open(folder + '/log').read())
        time.sleep(0.05)
    return process, file.complete, file


def bird(folder, java):
    config, control = folder + '/bird.conf', folder + '/ctl'
    with open(config, 'w') as out:
        out.write('router id 10.0.9.9;\nprotocol device {}\n')
        for peer in range(PEERS):
            out.write('protocol bgp p%d { local %s as %d; neighbor %s as %d; multihop; passive; ipv6 { import all; export none; }; }\n'
                      % (peer, RECEIVER, AS, sender_address(peer), 65001 + peer))
    process = subprocess.Popen(['bird', '-f', '-c', config, '-s', control, '-P', folder + '/pid'])
    await_bird(process, control)

    def complete(routes):
        words = query_bird(control, 'show protocols all').split()
        counts = [int(words[at - 1]) for at, word in enumerate(words) if word == 'imported,']
        if not any(counts):
            return None
        return sum(counts) == PEERS * routes
    return process, complete, None


# --- a run ---------------------------------------------------------------------------------------

def cpu_seconds(pid):
    fields = open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def memory_mb(pid):
    found = {}
    for name, keys in (('status', ('VmRSS', 'VmHWM', 'RssAnon', 'RssFile', 'RssShmem')), ('smaps_rollup', ('Pss',))):
        for line in open('/proc/%d/%s' % (pid, name)):
            key, _, value = line.partition(':')
            if key in keys:
                found[key] = round(int(value.split()[0]) / 1024, 1)
    return found


def await_all(complete, senders, routes, began):
    """Waits for all routes. Returns the seconds from the first route, and from the beginning, to the last route."""
    first = None
    prodded = began
    while True:
        now = time.time()
        if now - prodded > 0.05:
            prodded = now
            for each in senders:
                each.prod()
        state = complete(routes)
        if state is not None and first is None:
            first = now
        if state:
            return now - first, now - began
        if now - began > LIMIT:
            raise SystemExit('not all routes came within %d s' % LIMIT)
        time.sleep(0.002 if state is None else 0.01)


def run(receiver, sender, routes, feed, java):
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        senders = [sender(peer, routes, feed, folder) for peer in range(PEERS)]
        process, complete, file = receiver(folder, java)
        try:
            for each in senders:
                each.meet()
            time.sleep(1)
            cpu, memory = cpu_seconds(process.pid), memory_mb(process.pid)
            began = time.time()
            for each in senders:
                each.begin()
            if feed == 'aggregate':
                time.sleep(5)
                from_first = from_begin = 0
            else:
                from_first, from_begin = await_all(complete, senders, routes, began)
                time.sleep(4)
            result = {'receiver': receiver.__name__, 'sender': sender.__name__.lower(), 'feed': feed,
                      'seconds': round(from_begin if sender is Prebuilt else from_first, 3),
                      'cpu_seconds': round(cpu_seconds(process.pid) - cpu, 2),
                      'memory_mb': memory_mb(process.pid), 'memory_before_mb': memory}
            if file:
                file.open()
                result['prefixes'] = file.u32(60)
                if sender is Prebuilt:
                    result['change_us'] = sorted(file.change(senders[k % PEERS]) for k in range(CHANGES))
            return result
        finally:
            process.terminate()
            process.wait()
            for each in senders:
                each.end()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--routes', type=int, default=100_000)
    arguments.add_argument('--rounds', type=int, default=3)
    arguments.add_argument('--sender', choices=('bird', 'prebuilt', 'both'), default='both')
    arguments.add_argument('--json', help='file for all runs')
    arguments.add_argument('--inside', action='store_true', help=argparse.SUPPRESS)
    arguments.add_argument('java', nargs='+', help='command that runs heddle')
    options = arguments.parse_args()
    if not options.inside:
        os.execvp('unshare', ['unshare', '--net', sys.executable, os.path.abspath(__file__), '--inside'] + sys.argv[1:])
    # Makes SIGTERM raise SystemExit, so that finally clauses run.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    subprocess.run('ip link set lo up; ip addr add %s/128 dev lo; %s' % (
        RECEIVER, ' '.join('ip addr add %s/128 dev lo;' % sender_address(peer) for peer in range(PEERS))), shell=True, check=True)
    time.sleep(0.5)
    senders = {'bird': [Bird], 'prebuilt': [Prebuilt], 'both': [Bird, Prebuilt]}[options.sender]
    runs = []
    for _ in range(options.rounds):
        for sender in senders:
            for feed in ('packed', 'unpacked', 'aggregate'):
                if feed == 'aggregate' and sender is not Bird:
                    continue
                for receiver in (heddle, bird):
                    runs.append(run(receiver, sender, options.routes, feed, options.java))
                    print('# %(receiver)s fed by %(sender)s, %(feed)s: %(seconds).2f s, %(cpu_seconds).2f s of processor time' % runs[-1],
                          file=sys.stderr, flush=True)
    if options.json:
        with open(options.json, 'w') as out:
            json.dump({'peers': PEERS, 'runs': runs}, out, indent=1)
            out.write('\n')


if __name__ == '__main__':
    main()
