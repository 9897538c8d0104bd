package io.heddle.softroce;

import io.heddle.platform.Errno;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * The sockets that a device's packets come in by, one for each of its addresses: which of them have
 * some, whose turn it is, and how long what they had may have lain there. Under the progress lock.
 */
final class ReceiveSockets {
  /** Receive calls a socket gets before the next has its turn. */
  private static final int RECEIVES_PER_TURN = 2;

  private final DatagramReceiver receiver;
  private final Epoll readable;
  private int[] fds = new int[0];
  /* When each of them was found empty last, and how long the packets in hand may have waited since. */
  private long[] emptyAtNs = new long[0];
  private long waitedNs;

  ReceiveSockets(Arena arena) {
    receiver = new DatagramReceiver(arena);
    readable = new Epoll(arena);
  }

  void add(int fd, long nowNs) {
    readable.add(fd, fds.length);
    fds = Arrays.copyOf(fds, fds.length + 1);
    fds[fds.length - 1] = fd;
    emptyAtNs = Arrays.copyOf(emptyAtNs, fds.length);
    emptyAtNs[fds.length - 1] = nowNs;
  }

  /** Nothing is received any more; who opened the sockets closes them. */
  void close() {
    fds = new int[0];
    readable.close();
  }

  /** How long the packet in hand may have lain in its socket at most; 0 between two rounds. */
  long waitedNs() {
    return waitedNs;
  }

  /** Hands what has come to the engine, train by train; returns how many packets. */
  int receiveAll(Engine engine, long nowNs) {
    int sockets = fds.length;
    /* One question to all sockets costs less than a question to each of two. */
    long ready = sockets == 1 ? 1 : ready(sockets);
    int packets = 0;
    for (int i = 0; i < sockets; i++) {
      if (i >= Long.SIZE || (ready & 1L << i) != 0) {
        packets += receive(engine, i, nowNs);
      } else {
        emptyAtNs[i] = nowNs;
      }
    }
    waitedNs = 0;
    return packets;
  }

  /* A bit for each of the first 64; all of them where the question failed. */
  private long ready(int sockets) {
    if (sockets == 0) {
      return 0;
    }
    int count = readable.look();
    long ready = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++) {
      int socket = readable.number(i);
      ready |= socket < Long.SIZE ? 1L << socket : 0;
    }
    return ready;
  }

  private int receive(Engine engine, int socket, long nowNs) {
    int packets = 0;
    waitedNs = nowNs - emptyAtNs[socket];
    for (int call = 0; call < RECEIVES_PER_TURN; call++) {
      int datagrams = receiver.receive(fds[socket]);
      for (int i = 0; i < datagrams; i++) {
        packets += handOver(engine, i, nowNs);
      }
      if (datagrams < DatagramReceiver.DATAGRAMS) {
        /* An errno here is about an earlier send; the next call receives. */
        if (datagrams >= 0 || datagrams == -Errno.EAGAIN) {
          emptyAtNs[socket] = nowNs;
        }
        break;
      }
    }
    return packets;
  }

  private int handOver(Engine engine, int datagram, long nowNs) {
    return engine.onTrain(
        receiver.view(),
        receiver.base(),
        receiver.address(datagram),
        receiver.lengthBytes(datagram),
        receiver.strideBytes(datagram),
        receiver.sourceHigh(datagram),
        receiver.sourceLow(datagram),
        receiver.sourcePort(datagram),
        nowNs);
  }
}
