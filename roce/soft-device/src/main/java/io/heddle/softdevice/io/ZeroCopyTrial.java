package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;

/**
 * Trial, on the loopback interface, of whether large trains are sent without a copy. It sends a
 * train and changes the train's memory before reception. The received bytes show whether the kernel
 * had copied them.
 */
public final class ZeroCopyTrial {
  private static final Gid LOOPBACK = new Gid(0, 1);
  private static final int PACKET_BYTES = 4160;
  private static final int PACKETS = 15;
  private static final int BYTES = PACKETS * PACKET_BYTES;
  private static final byte SENT = 1;
  private static final byte CHANGED = 2;
  private static final long TIMEOUT_NS = 1_000_000_000L;
  private static final long POLL_NS = 100_000;
  private static final String COPIED =
      "soft0: large trains of packets are copied, which costs about a sixth of the bandwidth in one"
          + " direction: ";

  private final Arena arena;
  private final long train;

  private ZeroCopyTrial(Arena arena) {
    this.arena = arena;
    train = Memory.allocate(arena, BYTES, PagePipe.PAGE_BYTES);
  }

  /**
   * Runs the trial.
   *
   * @param kernel the kernel's release, such as "6.6.1"
   */
  public static DeviceTrial run(String kernel) {
    if (!PagePipe.supportsPages(kernel)) {
      return DeviceTrial.slower(
          COPIED + "kernel " + kernel + " copies what comes out of a pipe",
          "use a kernel from 6.6 on");
    }
    try (Arena arena = Arena.ofConfined()) {
      PagePipe pages = PagePipe.open(arena, kernel);
      return pages == null
          ? DeviceTrial.slower(
              COPIED + "no pipe is available", "raise the limit of open files (ulimit -n)")
          : new ZeroCopyTrial(arena).run(pages);
    } catch (SystemCallException failed) {
      return DeviceTrial.untried(
          "soft0: whether large trains of packets are copied can't be tried on the loopback: "
              + failed.getMessage());
    }
  }

  /** Runs the trial with the caller's pipe. */
  static DeviceTrial run(Arena arena, PagePipe pages) {
    return new ZeroCopyTrial(arena).run(pages);
  }

  private DeviceTrial run(PagePipe pages) {
    try (UdpSocket to = UdpSocket.bind(LOOPBACK, 0, 0, true);
        UdpSocket from = UdpSocket.bind(LOOPBACK, 0, 0, false)) {
      from.connect(LOOPBACK, 0, to.port());
      if (!from.growSegmentBytes(PACKET_BYTES)) {
        return DeviceTrial.slower(
            COPIED + "a socket rejects a default segment size (UDP_SEGMENT)",
            "use a kernel from 6.6 on, without what filters setsockopt");
      }
      fill(SENT);
      int result = pages.send(from.fd(), train, BYTES);
      if (result == -Errno.ENOSPC) {
        return DeviceTrial.slower(
            COPIED + "a pipe takes fewer than 16 pages",
            "raise fs.pipe-user-pages-soft, which this user's pipes exceed; or find the process"
                + " that holds them");
      }
      if (result < 0) {
        return DeviceTrial.slower(
            COPIED + "vmsplice and splice to a socket fail with " + Errno.describe(-result),
            "allow both calls: a container's seccomp profile may forbid them");
      }
      fill(CHANGED);
      return awaitResult(to);
    }
  }

  private void fill(byte mark) {
    Memory.ALL.asSlice(train, BYTES).fill(mark);
  }

  private DeviceTrial awaitResult(UdpSocket to) {
    DatagramReceiver receiver = new DatagramReceiver(arena);
    int changed = 0;
    int received = 0;
    long start = System.nanoTime();
    while (received < BYTES && System.nanoTime() - start < TIMEOUT_NS) {
      int datagrams = receiver.receive(to.fd());
      for (int i = 0; i < datagrams; i++) {
        int bytes = receiver.lengthBytes(i);
        received += bytes;
        for (int at = 0; at < bytes; at++) {
          changed +=
              Memory.ALL.get(ValueLayout.JAVA_BYTE, receiver.address(i) + at) == CHANGED ? 1 : 0;
        }
      }
      if (datagrams <= 0) {
        LockSupport.parkNanos(POLL_NS);
      }
    }
    if (received < BYTES) {
      return DeviceTrial.untried(
          "soft0: whether large trains of packets are copied is unknown: of a train of %s bytes, %s arrived over the loopback"
              .formatted(BYTES, received));
    }
    return changed == BYTES
        ? DeviceTrial.works(
            "soft0: large trains of packets are sent without a copy (tried on the" + " loopback)")
        : DeviceTrial.slower(
            COPIED + "the kernel took pages and copied them",
            "see what changes or holds packets on egress (tc filter, nft), on lo here");
  }
}
