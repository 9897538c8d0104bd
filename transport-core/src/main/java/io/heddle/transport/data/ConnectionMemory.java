package io.heddle.transport.data;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.ProcessLimits;
import io.heddle.reorder.ReorderWindow;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import java.util.EnumSet;

/**
 * Native memory of a connection; its ring of clear-to-send entries is registered with the device.
 *
 * <pre>ring | table | struct heddle_comm | one struct heddle_request for each request</pre>
 *
 * <p>The table has the sub-flow of each chunk at a sending end ({@link SentChunks}), and the length
 * of each posted buffer at a receiving end.
 */
public final class ConnectionMemory implements AutoCloseable {
  static final int REQUEST_LINES = 256;

  /** Size of the table in bytes: the larger of the sizes that a sender and a receiver need. */
  private static final int TABLE_BYTES =
      Math.max(
          SentChunks.carrierBytes(REQUEST_LINES),
          ClearToSend.GROUPS * ReorderWindow.MAX_RECEIVES * Long.BYTES);

  private static final long TABLE_AT = ClearToSend.RING_BYTES;
  private static final long COMM_AT = TABLE_AT + TABLE_BYTES;
  private static final long LINES_AT = COMM_AT + RequestLines.BYTES;
  private static final long BYTES = LINES_AT + (long) REQUEST_LINES * RequestLines.BYTES;

  /*
   * Address of the mapped memory. Only touched pages cost memory, and an idle connection touches
   * none.
   */
  private final long base;
  private final RequestLines lines;
  private final MemoryRegion ring;

  /**
   * @throws HeddleException when there is no memory, or the device refuses the ring
   */
  public ConnectionMemory(ProtectionDomain pd) {
    base = MemoryCalls.mapMemory(BYTES);
    if (base < 0) {
      throw new HeddleException(
          "no memory for another connection: %s bytes, %s; %s"
              .formatted(BYTES, Errno.describe((int) -base), ProcessLimits.ofMemory()));
    }
    MemoryCalls.adviseSmallPages(base, BYTES);
    lines = new RequestLines(base + LINES_AT, REQUEST_LINES, commAddress());
    try {
      ring =
          pd.registerMemory(
              base,
              ClearToSend.RING_BYTES,
              EnumSet.of(
                  ProtectionDomain.Access.LOCAL_WRITE, ProtectionDomain.Access.REMOTE_WRITE));
    } catch (RuntimeException failure) {
      MemoryCalls.unmapMemory(base, BYTES);
      throw failure;
    }
  }

  /** Returns the address of the communicator's {@code struct heddle_comm}. */
  public long commAddress() {
    return base + COMM_AT;
  }

  RequestLines lines() {
    return lines;
  }

  public long ringAddress() {
    return base;
  }

  public int ringLocalKey() {
    return ring.lkey();
  }

  public int ringRemoteKey() {
    return ring.rkey();
  }

  /** Returns the address of the table; the table's bytes are zero at first. */
  long tableAddress() {
    return base + TABLE_AT;
  }

  @Override
  public void close() {
    ring.close();
    MemoryCalls.unmapMemory(base, BYTES);
  }
}
