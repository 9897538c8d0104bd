"""BGP neighbour for tests, correct or faulty by its role: neighbour.py ROLE ADDRESS [FOLDER].

good       keeps a session and announces 40 host routes; later also those with the numbers in FOLDER/more
wrong-as   announces AS 70999 in its OPEN message
silent     accepts the connection and sends nothing
garbage    answers with bytes that aren't BGP
"""
import os, socket, struct, sys, time

role, address = sys.argv[1], sys.argv[2]
folder = sys.argv[3] if len(sys.argv) > 3 else ''


def message(kind, body=b''):
    return b'\xff' * 16 + struct.pack('!HB', 19 + len(body), kind) + body


def opening(asn):
    capabilities = b'\x01\x04\x00\x02\x00\x01' + b'\x41\x04' + struct.pack('!I', asn)
    return message(1, b'\x04' + struct.pack('!HH', 23456 if asn > 65535 else asn, 30) + socket.inet_aton('10.0.0.1')
                   + bytes([len(capabilities) + 2, 2, len(capabilities)]) + capabilities)


def route(index):
    nlri = b'\x80' + bytes.fromhex('fd000009') + struct.pack('!I', index) + bytes(7) + b'\x01'
    reach = struct.pack('!HBB', 2, 1, 16) + socket.inet_pton(socket.AF_INET6, address) + b'\x00' + nlri
    attributes = (b'\x90\x0e' + struct.pack('!H', len(reach)) + reach + b'\x40\x01\x01\x00'
                  + b'\x40\x02\x06\x02\x01' + struct.pack('!I', 65002)
                  + b'\xc0\x10\x08' + bytes.fromhex('01800a0000010064'))
    return message(2, b'\x00\x00' + struct.pack('!H', len(attributes)) + attributes)


def good(peer):
    peer.sendall(opening(65002) + message(4) + b''.join(route(k) for k in range(40)) + message(2, bytes.fromhex('00000006800f03000201')))
    announced, more = 40, os.path.join(folder, 'more')
    peer.settimeout(0.2)
    while True:
        try:
            if not peer.recv(65536):
                return
        except socket.timeout:
            peer.sendall(message(4))
        wanted = int(open(more).read() or 0) if os.path.exists(more) else 0
        if wanted > announced:
            peer.sendall(b''.join(route(k) for k in range(announced, wanted)))
            announced = wanted


def serve(peer):
    if role == 'good':
        good(peer)
    elif role == 'wrong-as':
        peer.sendall(opening(70999))
        peer.recv(65536)
        time.sleep(0.2)
    elif role == 'silent':
        while peer.recv(65536):
            pass
    elif role == 'garbage':
        peer.sendall(b'HTTP/1.1 400 Bad Request\r\n\r\n' * 3000)
        peer.recv(65536)


server = socket.socket(socket.AF_INET6)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((address, 1790))
server.listen(5)
while True:
    peer, _ = server.accept()
    try:
        serve(peer)
    except OSError:
        pass  # The daemon ended the session, as it should.
    peer.close()
