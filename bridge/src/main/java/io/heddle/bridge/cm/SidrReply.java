package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/**
 * SIDR_REP: the number and key of the requested queue pair, or the reason for their absence
 * (InfiniBand Architecture Specification, volume 1, section 12.11.2).
 *
 * <pre>
 *  0        1        2        3
 * |header, 24 bytes                     |   {@link ManagementDatagram}
 * |request id                           |
 * |status   |info len.|reserved         |
 * |queue pair                 |reserved |
 * |service id, 8 bytes                  |
 * |queue key                            |
 * |additional information, 72 bytes     |
 * |private data, 136 bytes              |
 * </pre>
 */
public final class SidrReply {
  /** The reply contains the number of a queue pair. */
  public static final int STATUS_SUCCESS = 0;

  /** No queue pair is available at the moment. */
  public static final int STATUS_NO_QUEUE_PAIR = 3;

  private static final int REQUEST_ID = 24;
  private static final int STATUS = 28;
  private static final int QUEUE_PAIR = 32;
  private static final int SERVICE_ID = 36;
  private static final int QUEUE_KEY = 44;
  private static final int PRIVATE_DATA = 120;

  private SidrReply() {}

  /** Returns the id of the request that this reply answers. */
  public static int requestId(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + REQUEST_ID);
  }

  public static void setRequestId(long mad, int requestId) {
    Memory.ALL.set(Memory.NETWORK_INT, mad + REQUEST_ID, requestId);
  }

  public static int status(long mad) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, mad + STATUS) & 0xff;
  }

  /** Returns the number of the queue pair. Only with {@link #STATUS_SUCCESS}. */
  public static int queuePair(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + QUEUE_PAIR) >>> 8;
  }

  /** Returns the queue key. Only with {@link #STATUS_SUCCESS}. */
  public static int queueKey(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + QUEUE_KEY);
  }

  /** Returns the address of the private data. */
  public static long privateData(long mad) {
    return mad + PRIVATE_DATA;
  }

  public static long serviceId(long mad) {
    return Memory.ALL.get(Memory.NETWORK_LONG, mad + SERVICE_ID);
  }

  /**
   * Writes a reply without private data.
   *
   * @param queuePair number of the queue pair; 0 for none
   */
  public static void write(
      long mad,
      long transaction,
      int requestId,
      int status,
      int queuePair,
      int queueKey,
      long serviceId) {
    ManagementDatagram.write(mad, CmMessage.SIDR_REPLY, transaction);
    setRequestId(mad, requestId);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, mad + STATUS, (byte) status);
    Memory.ALL.set(Memory.NETWORK_INT, mad + QUEUE_PAIR, queuePair << 8);
    Memory.ALL.set(Memory.NETWORK_LONG, mad + SERVICE_ID, serviceId);
    Memory.ALL.set(Memory.NETWORK_INT, mad + QUEUE_KEY, queueKey);
  }

  /** Returns a one-line description of a reply. */
  public static String describe(long mad) {
    return String.format(
        Locale.ROOT,
        "SIDR_REP 0x%08x, transaction 0x%016x, status %d, queue pair 0x%06x, queue key 0x%08x,"
            + " service 0x%016x",
        requestId(mad),
        ManagementDatagram.transaction(mad),
        status(mad),
        queuePair(mad),
        queueKey(mad),
        serviceId(mad));
  }
}
