package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.roce.transport.Counters;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Receiving sockets of a device, one per address. This class finds the readable sockets, receives
 * from them in turn, and tracks how long packets may have waited. Used under the progress lock.
 */
public final class ReceiveSockets {
  /** Largest number of receive calls on a socket before the next socket is read. */
  private static final int RECEIVES_PER_TURN = 2;

  /**
   * Number of consecutive calls that received a single datagram, after which the next call requests
   * only one.
   */
  private static final int ONE_BY_ONE = 8;

  private static final int FREE = -1;

  private final Counters counters;
  private final SystemCallFailures callFailures;
  private final DatagramReceiver receiver;
  private final Epoll readable;
  private int[] fds = new int[0]; /* descriptors, or FREE for a removed socket */
  /*
   * emptyAtNs: time when each socket was last empty; longestSocketWaitNs: how long the current
   * packets may have waited in their socket since then.
   */
  private long[] emptyAtNs = new long[0];
  private long longestSocketWaitNs;
  /*
   * For each socket. singlePackets: number of consecutive calls that returned one datagram;
   * mayHaveMore: whether the last call received as many as it requested, so that more may be
   * queued.
   */
  private int[] singlePackets = new int[0];
  private boolean[] mayHaveMore = new boolean[0];
  /* Number of consecutive errors of each socket. */
  private int[] failures = new int[0];

  public ReceiveSockets(Arena arena, Counters counters, SystemCallFailures callFailures) {
    this.callFailures = callFailures;
    this.counters = counters;
    receiver = new DatagramReceiver(arena);
    readable = new Epoll(arena);
  }

  public void add(int fd, long nowNs) {
    int index = indexOf(FREE);
    if (index < 0) {
      index = fds.length;
      fds = Arrays.copyOf(fds, index + 1);
      emptyAtNs = Arrays.copyOf(emptyAtNs, index + 1);
      singlePackets = Arrays.copyOf(singlePackets, index + 1);
      mayHaveMore = Arrays.copyOf(mayHaveMore, index + 1);
      failures = Arrays.copyOf(failures, index + 1);
    }
    readable.add(fd, index);
    fds[index] = fd;
    emptyAtNs[index] = nowNs;
    singlePackets[index] = 0;
    mayHaveMore[index] = false;
    failures[index] = 0;
  }

  /**
   * Tries the receive calls on an idle socket.
   *
   * @throws HeddleException if a call is refused
   */
  public void trySystemCalls(int fd) {
    int errno = -receiver.receive(fd);
    if (errno > 0 && !SystemCallFailures.isTransient(errno)) {
      throw new HeddleException(SystemCallFailures.describe("recvmmsg", fd, errno));
    }
    errno = -readable.poll();
    if (errno > 0 && !SystemCallFailures.isTransient(errno)) {
      throw new HeddleException(SystemCallFailures.describe("epoll_wait", readable.fd(), errno));
    }
  }

  /** Removes a socket. The code that opened the socket closes it. */
  public void remove(int fd) {
    int index = indexOf(fd);
    readable.remove(fd);
    fds[index] = FREE;
  }

  private int indexOf(int fd) {
    for (int i = 0; i < fds.length; i++) {
      if (fds[i] == fd) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Returns the longest time that the current packet may have waited in its socket; 0 between
   * rounds.
   */
  public long longestSocketWaitNs() {
    return longestSocketWaitNs;
  }

  /** Passes received trains to the sink. Returns the number of packets. */
  public int receiveAll(TrainSink sink, long nowNs) {
    int sockets = fds.length;
    /* One epoll call for all sockets costs less than a receive call on each of two. */
    long ready = sockets == 1 ? 1 : ready(sockets);
    int packets = 0;
    for (int i = 0; i < sockets; i++) {
      if (i >= Long.SIZE || (ready & 1L << i) != 0) {
        packets += receive(sink, i, nowNs);
      } else {
        emptyAtNs[i] = nowNs;
      }
    }
    longestSocketWaitNs = 0;
    return packets;
  }

  /*
   * Returns which of the first 64 sockets are readable, one bit each. All bits are set if the call
   * failed.
   */
  private long ready(int sockets) {
    if (sockets == 0) {
      return 0;
    }
    int count = readable.poll();
    if (count < 0 && SystemCallFailures.isPermanent(-count)) {
      callFailures.deviceFailed("epoll_wait", readable.fd(), -count);
    }
    long ready = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++) {
      int socket = readable.number(i);
      ready |= socket < Long.SIZE ? 1L << socket : 0;
    }
    return ready;
  }

  private int receive(TrainSink sink, int socket, long nowNs) {
    int packets = 0;
    longestSocketWaitNs = nowNs - emptyAtNs[socket];
    for (int call = 0; call < RECEIVES_PER_TURN; call++) {
      int most = mostExpected(socket);
      int datagrams = receiver.receive(fds[socket], most);
      mayHaveMore[socket] = datagrams == most;
      if (datagrams > 0) {
        singlePackets[socket] =
            datagrams == 1 ? Math.min(ONE_BY_ONE, singlePackets[socket] + 1) : 0;
      }
      for (int i = 0; i < datagrams; i++) {
        packets += deliver(sink, i, nowNs);
      }
      if (datagrams < DatagramReceiver.DATAGRAMS) {
        /* An errno here usually concerns an earlier send, and the next call receives. */
        failures[socket] = datagrams < 0 ? failures(socket, -datagrams) : 0;
        if (datagrams >= 0 && datagrams < most || datagrams == -Errno.EAGAIN) {
          emptyAtNs[socket] = nowNs;
        }
        break;
      }
    }
    return packets;
  }

  /* Returns the socket's number of consecutive errors, with this one. */
  private int failures(int socket, int errno) {
    if (errno == Errno.EAGAIN) {
      return 0;
    }
    int inARow = SystemCallFailures.isTransient(errno) ? failures[socket] : failures[socket] + 1;
    if (SystemCallFailures.isPermanent(errno) || inARow >= SystemCallFailures.MAX_IN_A_ROW) {
      callFailures.deviceFailed("recvmmsg", fds[socket], errno);
      return 0;
    }
    return inARow;
  }

  /*
   * Returns the largest number of datagrams to request. If datagrams come one by one, a limit of
   * one avoids the latency of the kernel's search for a second.
   */
  private int mostExpected(int socket) {
    return singlePackets[socket] == ONE_BY_ONE && !mayHaveMore[socket]
        ? 1
        : DatagramReceiver.DATAGRAMS;
  }

  private int deliver(TrainSink sink, int datagram, long nowNs) {
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
      counters.receivedInFragments();
    }
  }
}
