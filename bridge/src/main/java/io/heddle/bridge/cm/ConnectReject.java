package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;

/**
 * REJ: rejects a REQ for a connection (InfiniBand Architecture Specification, volume 1, section
 * 12.6.7).
 *
 * <pre>
 *  0        1        2        3
 * |header, 24 bytes                     |   {@link ManagementDatagram}
 * |local communication id               |
 * |remote communication id              |
 * |msg|resv |info len.|reason           |
 * |additional information, 72 bytes     |
 * |private data, 148 bytes              |
 * </pre>
 */
public final class ConnectReject {
  /** The requested transport service doesn't exist (section 12.6.7.2). */
  public static final int REASON_TRANSPORT_SERVICE = 9;

  /** Offset of the local communication id, in a REQ and in a REJ. */
  private static final int LOCAL_ID = 24;

  private static final int REMOTE_ID = 28;
  private static final int MESSAGE = 32;
  private static final int REASON = 34;

  private ConnectReject() {}

  /** Returns the communication id that the sender of a REQ has chosen. */
  public static int localIdOfRequest(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + LOCAL_ID);
  }

  /** Returns the communication id of the rejected message. */
  public static int remoteId(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + REMOTE_ID);
  }

  public static int reason(long mad) {
    return Memory.ALL.get(Memory.NETWORK_SHORT, mad + REASON) & 0xffff;
  }

  /** Returns whether the rejected message is a REQ. */
  public static boolean refusesRequest(long mad) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, mad + MESSAGE) == 0;
  }

  /**
   * Writes the rejection of a REQ.
   *
   * @param communicationId local communication id in the REQ
   */
  public static void write(long mad, long transaction, int communicationId, int reason) {
    ManagementDatagram.write(mad, CmMessage.CONNECT_REJECT, transaction);
    Memory.ALL.set(Memory.NETWORK_INT, mad + REMOTE_ID, communicationId);
    Memory.ALL.set(Memory.NETWORK_SHORT, mad + REASON, (short) reason);
  }
}
