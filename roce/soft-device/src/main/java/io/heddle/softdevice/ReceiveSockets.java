package io.heddle.softdevice;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.roce.transport.Counters;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * The sockets that a device's packets come in by, one for each of its addresses: which of them have
 * some, whose turn it is, and how long what they had may have lain there. Under the progress lock.
 */
final class ReceiveSockets {
  /** Receive calls a socket gets before the next has its turn. */
  private static final int RECEIVES_PER_TURN = 2;

  /** Calls in a row that brought one datagram, until one is expected. */
  private static final int ONE_BY_ONE = 8;

  private static final int FREE = -1;

  private final Counters counters;
  private final SystemCallFailures broken;
  private final DatagramReceiver receiver;
  private final Epoll readable;
  private int[] fds = new int[0]; /* FREE where there was one */
  /* When each of them was found empty last, and how long the packets in hand may have waited since. */
  private long[] emptyAtNs = new long[0];
  private long waitedNs;
  /* How many calls in a row have brought one, of those that brought any, and whether the last one got all it asked for. */
  private int[] ones = new int[0];
  private boolean[] gotAll = new boolean[0];
  /* Errors in a row. */
  private int[] failures = new int[0];

  ReceiveSockets(Arena arena, Counters counters, SystemCallFailures broken) {
    this.broken = broken;
    this.counters = counters;
    receiver = new DatagramReceiver(arena);
    readable = new Epoll(arena);
  }

  void add(int fd, long nowNs) {
    int place = placeOf(FREE);
    if (place < 0) {
      place = fds.length;
      fds = Arrays.copyOf(fds, place + 1);
      emptyAtNs = Arrays.copyOf(emptyAtNs, place + 1);
      ones = Arrays.copyOf(ones, place + 1);
      gotAll = Arrays.copyOf(gotAll, place + 1);
      failures = Arrays.copyOf(failures, place + 1);
    }
    readable.add(fd, place);
    fds[place] = fd;
    emptyAtNs[place] = nowNs;
    ones[place] = 0;
    gotAll[place] = false;
    failures[place] = 0;
  }

  /**
   * Receives by a socket that nothing comes to.
   *
   * @throws HeddleException where that is refused
   */
  void tryCalls(int fd) {
    int errno = -receiver.receive(fd);
    if (errno > 0 && !SystemCallFailures.isTransient(errno)) {
      throw new HeddleException(SystemCallFailures.describe("recvmmsg", fd, errno));
    }
    errno = -readable.look();
    if (errno > 0 && !SystemCallFailures.isTransient(errno)) {
      throw new HeddleException(SystemCallFailures.describe("epoll_wait", readable.fd(), errno));
    }
  }

  /** Nothing is received by this one any more; who opened it closes it. */
  void remove(int fd) {
    int place = placeOf(fd);
    readable.remove(fd);
    fds[place] = FREE;
  }

  private int placeOf(int fd) {
    for (int i = 0; i < fds.length; i++) {
      if (fds[i] == fd) {
        return i;
      }
    }
    return -1;
  }

  /** How long the packet in hand may have lain in its socket at most; 0 between two rounds. */
  long waitedNs() {
    return waitedNs;
  }

  /** Hands what has come to that sink, train by train; returns how many packets. */
  int receiveAll(PacketSink sink, long nowNs) {
    int sockets = fds.length;
    /* One question to all sockets costs less than a question to each of two. */
    long ready = sockets == 1 ? 1 : ready(sockets);
    int packets = 0;
    for (int i = 0; i < sockets; i++) {
      if (i >= Long.SIZE || (ready & 1L << i) != 0) {
        packets += receive(sink, i, nowNs);
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
    if (count < 0 && SystemCallFailures.isPermanent(-count)) {
      broken.deviceFailed("epoll_wait", readable.fd(), -count);
    }
    long ready = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++) {
      int socket = readable.number(i);
      ready |= socket < Long.SIZE ? 1L << socket : 0;
    }
    return ready;
  }

  private int receive(PacketSink sink, int socket, long nowNs) {
    int packets = 0;
    waitedNs = nowNs - emptyAtNs[socket];
    for (int call = 0; call < RECEIVES_PER_TURN; call++) {
      int most = mostExpected(socket);
      int datagrams = receiver.receive(fds[socket], most);
      gotAll[socket] = datagrams == most;
      if (datagrams > 0) {
        ones[socket] = datagrams == 1 ? Math.min(ONE_BY_ONE, ones[socket] + 1) : 0;
      }
      for (int i = 0; i < datagrams; i++) {
        packets += handOver(sink, i, nowNs);
      }
      if (datagrams < DatagramReceiver.DATAGRAMS) {
        /* An errno here is mostly about an earlier send; the next call receives. */
        failures[socket] = datagrams < 0 ? failures(socket, -datagrams) : 0;
        if (datagrams >= 0 && datagrams < most || datagrams == -Errno.EAGAIN) {
          emptyAtNs[socket] = nowNs;
        }
        break;
      }
    }
    return packets;
  }

  /* How many there are now in a row. */
  private int failures(int socket, int errno) {
    if (errno == Errno.EAGAIN) {
      return 0;
    }
    int inARow = SystemCallFailures.isTransient(errno) ? failures[socket] : failures[socket] + 1;
    if (SystemCallFailures.isPermanent(errno) || inARow >= SystemCallFailures.MAX_IN_A_ROW) {
      broken.deviceFailed("recvmmsg", fds[socket], errno);
      return 0;
    }
    return inARow;
  }

  /* Where they come one by one, whoever waits for one isn't kept by the kernel's look for a second. */
  private int mostExpected(int socket) {
    return ones[socket] == ONE_BY_ONE && !gotAll[socket] ? 1 : DatagramReceiver.DATAGRAMS;
  }

  private int handOver(PacketSink sink, int datagram, long nowNs) {
    int packets =
        sink.onTrain(
            receiver.view(),
            receiver.base(),
            receiver.address(datagram),
            receiver.lengthBytes(datagram),
            receiver.strideBytes(datagram),
            receiver.sourceHigh(datagram),
            receiver.sourceLow(datagram),
            receiver.sourcePort(datagram),
            nowNs);
    int remarks = receiver.remarks(datagram);
    if (remarks != 0) {
      count(remarks, packets);
    }
    return packets;
  }

  private void count(int remarks, int packets) {
    if ((remarks & DatagramReceiver.MARKED) != 0) {
      counters.marked(packets);
    }
    if ((remarks & DatagramReceiver.IN_FRAGMENTS) != 0) {
      counters.cameInFragments();
    }
  }
}
