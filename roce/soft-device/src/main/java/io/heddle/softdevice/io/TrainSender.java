package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sender of trains. A train is contiguous packets of one size, of which only the last may be
 * shorter, sent by one sendmsg with UDP segmentation offload. A socket whose path can't segment
 * sends packet by packet. Each device has one sender, used under the progress lock.
 */
final class TrainSender {
  private final long cell;
  private final Log log;
  private final PacketGate gate;
  /*
   * Local addresses for which missing segmentation was logged. The queue pairs of one plane have a
   * socket each, but the log needs one line.
   */
  private final Set<Gid> unsegmented = new HashSet<>();
  private final @Nullable PagePipe pages;
  private final SystemCallFailures callFailures;
  private final LargeTrains trains;
  private boolean refusalLogged;

  /**
   * @param gate decides whether each packet is sent
   * @param pages pipe for zero-copy trains, or null if each train is copied
   * @param trains counters of large trains
   * @param callFailures notified of a socket that can't send any more
   */
  TrainSender(
      Arena arena,
      Log log,
      PacketGate gate,
      @Nullable PagePipe pages,
      LargeTrains trains,
      SystemCallFailures callFailures) {
    this.callFailures = callFailures;
    this.log = log;
    this.gate = gate;
    this.pages = pages;
    this.trains = trains;
    cell = Memory.allocate(arena, SocketCalls.CELL_BYTES, 64);
  }

  /**
   * Sends a train.
   *
   * @return true if the train was sent, or counts as lost on the wire; false if the socket is full
   */
  boolean send(UdpSocket socket, long address, int lengthBytes, int segmentBytes) {
    if (gate.dropsOutgoing()) {
      return sendWithFaults(socket, address, lengthBytes, segmentBytes);
    }
    return socket.isSegmenting() || lengthBytes <= segmentBytes
        ? sendOnce(socket, address, lengthBytes, segmentBytes)
        : sendSingly(socket, address, lengthBytes, segmentBytes);
  }

  /**
   * Sends a train whose memory stays unchanged until it is acknowledged. A large train is sent
   * without a copy if possible, since the copy is a third of the kernel's work.
   */
  PacketOutlet.Outcome sendRetained(
      UdpSocket socket, long address, int lengthBytes, int segmentBytes) {
    boolean large = lengthBytes >= LargeTrains.LEAST_BYTES && lengthBytes > segmentBytes;
    if (large
        && pages != null
        && address % PagePipe.PAGE_BYTES == 0
        && !gate.dropsOutgoing()
        && socket.growSegmentBytes(segmentBytes)) {
      int result = pages.send(socket.fd(), address, lengthBytes);
      if (result == 0) {
        trains.addZeroCopy();
        return PacketOutlet.Outcome.ZERO_COPY;
      }
      if (result == -Errno.EAGAIN) {
        return PacketOutlet.Outcome.FULL;
      }
      /* ECONNREFUSED concerns an earlier packet. */
      if (!isFull(-result) && result != -Errno.ECONNREFUSED) {
        socket.disableZeroCopy();
      }
    }
    if (!send(socket, address, lengthBytes, segmentBytes)) {
      return PacketOutlet.Outcome.FULL;
    }
    if (large) {
      trains.addCopied();
    }
    return PacketOutlet.Outcome.SENT;
  }

  /*
   * Tries the data path's calls. A call without a peer fails with an error other than a filter's,
   * and sends nothing.
   */
  void trySystemCalls(int fd) {
    for (int segmentBytes : new int[] {0, Long.BYTES}) {
      int errno = -SocketCalls.send(fd, cell, Long.BYTES, segmentBytes, cell);
      if (errno == Errno.ENOSYS || errno == Errno.EPERM || errno == Errno.EACCES) {
        throw new HeddleException(SystemCallFailures.describe("sendmsg", fd, errno));
      }
    }
  }

  private static boolean isFull(int errno) {
    return errno == Errno.EAGAIN || errno == Errno.ENOBUFS || errno == Errno.EINTR;
  }

  private boolean sendWithFaults(
      UdpSocket socket, long address, int lengthBytes, int segmentBytes) {
    for (int at = 0; at < lengthBytes; at += segmentBytes) {
      int bytes = Math.min(segmentBytes, lengthBytes - at);
      if (gate.passesOutgoing() && !sendOnce(socket, address + at, bytes, segmentBytes)) {
        return false;
      }
    }
    return true;
  }

  private boolean sendSingly(UdpSocket socket, long address, int lengthBytes, int segmentBytes) {
    for (int at = 0; at < lengthBytes; at += segmentBytes) {
      /*
       * If the train is sent again after a full socket, its first packets are duplicates, which the
       * peer ignores.
       */
      if (!sendOnce(socket, address + at, Math.min(segmentBytes, lengthBytes - at), segmentBytes)) {
        return false;
      }
    }
    return true;
  }

  private boolean sendOnce(UdpSocket socket, long address, int lengthBytes, int segmentBytes) {
    boolean train = lengthBytes > segmentBytes;
    int own = socket.defaultSegmentBytes();
    int segment = train || own > 0 && lengthBytes > own ? segmentBytes : 0;
    int result = SocketCalls.send(socket.fd(), address, lengthBytes, segment, cell);
    if (result == -Errno.ECONNREFUSED) {
      /* The error concerns an earlier packet, and this call sent nothing, so it is repeated. */
      result = SocketCalls.send(socket.fd(), address, lengthBytes, segment, cell);
    }
    if (result >= 0) {
      return true;
    }
    int errno = -result;
    if (isFull(errno)) {
      return false;
    }
    boolean pathDiffers = errno == Errno.EIO || errno == Errno.EINVAL || errno == Errno.EMSGSIZE;
    if (pathDiffers && socket.disableZeroCopy()) {
      /*
       * If the socket's own segment size exceeds the path MTU, every send fails, so zero-copy sends
       * end.
       */
      return sendOnce(socket, address, lengthBytes, segmentBytes);
    }
    if (train && errno == Errno.EIO) {
      socket.stopSegmenting();
      if (unsegmented.add(socket.address())) {
        log.warn(
            "soft0: the path of packets from %s can't segment UDP (EIO): no checksum offload,"
                + " or IPsec; they are sent one by one, which is several times slower",
            socket.address());
      }
      return sendSingly(socket, address, lengthBytes, segmentBytes);
    }
    if (errno == Errno.EINVAL || errno == Errno.EMSGSIZE) {
      boolean again = socket.startFragmenting();
      if (!refusalLogged) {
        refusalLogged = true;
        log.warn(
            "soft0: the kernel refused to send %d bytes in packets of %d (%s); the path's MTU may"
                + " have become smaller, or the host's neighbour table may be full (heddle"
                + " doctor)",
            lengthBytes, segmentBytes, Errno.describe(errno));
      }
      return !train && !again || sendSingly(socket, address, lengthBytes, segmentBytes);
    }
    if (SystemCallFailures.isPermanent(errno)) {
      callFailures.deviceFailed("sendmsg", socket.fd(), errno);
    }
    /*
     * An error such as a missing route, an interface that is down, or a closed port of the peer
     * counts as a loss on the wire. The retry timer handles it.
     */
    return true;
  }
}
