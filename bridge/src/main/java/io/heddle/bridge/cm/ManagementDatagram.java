package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;

/**
 * Management datagram (MAD), 256 bytes at an address, with its common header (InfiniBand
 * Architecture Specification, volume 1, section 13.4.2).
 *
 * <pre>
 *  0        1        2        3
 * |base ver |class   |class v.|method   |   1, 7, 2, 3 in messages of the communication manager
 * |status            |class specific    |
 * |transaction id, 8 bytes              |
 * |attribute         |reserved          |
 * |attribute modifier                   |
 * |232 bytes of the attribute           |
 * </pre>
 */
public final class ManagementDatagram {
  public static final int BYTES = 256;

  /** Destination queue pair of the general services' MADs (section 10.2.4). */
  public static final int QUEUE_PAIR = 1;

  /** Queue key of queue pair 1, on every port. */
  public static final int QUEUE_KEY = 0x8001_0000;

  static final int HEADER_BYTES = 24;

  private static final int BASE_VERSION = 1;
  private static final int CONNECTION_CLASS = 7;
  private static final int CONNECTION_CLASS_VERSION = 2;
  private static final int METHOD_SEND = 3;
  private static final int TRANSACTION = 8;
  private static final int ATTRIBUTE = 16;

  private ManagementDatagram() {}

  private static int octet(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, at) & 0xff;
  }

  /**
   * Returns the kind of this datagram.
   *
   * @param lengthBytes length of the datagram
   */
  public static CmMessage messageOf(long mad, int lengthBytes) {
    if (lengthBytes != BYTES || octet(mad) != BASE_VERSION) {
      return CmMessage.MALFORMED;
    }
    if (octet(mad + 1) != CONNECTION_CLASS) {
      return CmMessage.FOREIGN;
    }
    if (octet(mad + 2) != CONNECTION_CLASS_VERSION || octet(mad + 3) != METHOD_SEND) {
      return CmMessage.MALFORMED;
    }
    return CmMessage.ofAttribute(Memory.ALL.get(Memory.NETWORK_SHORT, mad + ATTRIBUTE) & 0xffff);
  }

  /** Returns the transaction id, which the requester chooses to match a reply with its request. */
  public static long transaction(long mad) {
    return Memory.ALL.get(Memory.NETWORK_LONG, mad + TRANSACTION);
  }

  /** Writes the header of a message, and clears the rest of the datagram. */
  static void write(long mad, CmMessage message, long transaction) {
    for (int i = 0; i < BYTES; i += Long.BYTES) {
      Memory.setLong(mad + i, 0);
    }
    int versions =
        BASE_VERSION << 24 | CONNECTION_CLASS << 16 | CONNECTION_CLASS_VERSION << 8 | METHOD_SEND;
    Memory.ALL.set(Memory.NETWORK_INT, mad, versions);
    Memory.ALL.set(Memory.NETWORK_LONG, mad + TRANSACTION, transaction);
    Memory.ALL.set(Memory.NETWORK_SHORT, mad + ATTRIBUTE, (short) message.attribute());
  }
}
