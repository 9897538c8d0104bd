package io.heddle.bridge.pgm;

import io.heddle.bridge.status.PgmSessionRecord;
import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Codec of PGM packets at an address (RFC 3208, sections 8 and 9).
 *
 * <pre>
 *  0        1        2        3
 * |source port       |destination port  |
 * |type    |options  |checksum          |
 * |global source id, 6 bytes            |
 * |                  |data length       |
 * |number                               |   SPM, POLL, POLR: own sequence; else data sequence
 * |trailing edge of the sender's window |   SPM, ODATA, RDATA
 * |leading edge                         |   SPM
 * |family  |reserved|address, 4 or 16   |   SPM and POLL one, NAK, NNAK and NCF two
 * |options: type, length, ...           |   the first contains the length of all options
 * |data                                 |
 * </pre>
 *
 * <p>The checksum isn't verified: the invariant CRC of RoCE protects the bytes between two hosts.
 */
final class PgmFormat {
  static final int HEADER_BYTES = 16;

  private static final int DESTINATION_PORT = 2;
  private static final int TYPE = 4;
  private static final int OPTIONS = 5;
  private static final int SOURCE_ID = 8;
  private static final int DATA_LENGTH = 14;
  private static final int NUMBER = 16;
  private static final int TRAIL = 20;
  private static final int LEAD = 24;

  private static final int HAS_OPTIONS = 0x01;
  private static final int PARITY = 0x80;
  private static final int ADDRESS_FRONT_BYTES = 4;
  private static final int OPTION_LENGTH_BYTES = 4;
  private static final int LEAST_OPTION_BYTES = 3;
  private static final int OPTION_END = 0x80;

  private PgmFormat() {}

  private static int unsignedByte(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, at) & 0xff;
  }

  private static int unsignedShort(long at) {
    return Memory.ALL.get(Memory.NETWORK_SHORT, at) & 0xffff;
  }

  /**
   * Returns the type of a packet; null if it isn't a valid PGM packet. An invalid one is truncated,
   * has an unknown version or type, or has options or data that don't fit.
   *
   * @param bytes maximum length of the packet; bytes after its data are ignored
   */
  static @Nullable PgmType typeOf(long at, int bytes) {
    if (bytes < HEADER_BYTES) {
      return null;
    }
    PgmType type = PgmType.of(unsignedByte(at + TYPE));
    if (type == null) {
      return null;
    }
    int options = endOfAddresses(at, bytes, type);
    int data = options < 0 ? -1 : endOfOptions(at, bytes, options);
    return data < 0 || data + unsignedShort(at + DATA_LENGTH) > bytes ? null : type;
  }

  /*
   * Returns the offset of the options; negative if the packet is truncated or an address family
   * is unknown.
   */
  private static int endOfAddresses(long at, int bytes, PgmType type) {
    int offset = HEADER_BYTES + type.frontBytes();
    for (int i = 0; i < type.addresses(); i++) {
      if (offset + ADDRESS_FRONT_BYTES > bytes) {
        return -1;
      }
      int family = unsignedShort(at + offset);
      if (family != 1 && family != 2) {
        return -1;
      }
      offset += ADDRESS_FRONT_BYTES + (family == 1 ? 4 : 16);
    }
    offset += type.bytesBehind();
    return offset > bytes ? -1 : offset;
  }

  /* Returns the offset of the data; negative if options are truncated or unterminated. */
  private static int endOfOptions(long at, int bytes, int first) {
    if ((unsignedByte(at + OPTIONS) & HAS_OPTIONS) == 0) {
      return first;
    }
    if (first + OPTION_LENGTH_BYTES > bytes
        || (unsignedByte(at + first) & ~OPTION_END) != 0
        || unsignedByte(at + first + 1) != OPTION_LENGTH_BYTES) {
      return -1;
    }
    int end = first + unsignedShort(at + first + 2);
    if (end > bytes) {
      return -1;
    }
    int offset = first;
    boolean last = false;
    while (!last && offset < end) {
      if (offset + LEAST_OPTION_BYTES > end) {
        return -1;
      }
      int length = unsignedByte(at + offset + 1);
      last = (unsignedByte(at + offset) & OPTION_END) != 0;
      if (length < LEAST_OPTION_BYTES || offset + length > end) {
        return -1;
      }
      offset += length;
    }
    return offset == end ? end : -1;
  }

  /**
   * Returns the transport session id: the source's global id in the upper six bytes, then its port.
   * A receiver's packet has the source's port as its destination port.
   */
  static long session(long at, PgmType type) {
    long id = Memory.ALL.get(Memory.NETWORK_LONG, at + SOURCE_ID) & ~0xffffL;
    return id | unsignedShort(type.isFromSource() ? at : at + DESTINATION_PORT);
  }

  /** Returns whether a data packet holds parity, whose number isn't a data sequence number. */
  static boolean isParity(long at) {
    return (unsignedByte(at + OPTIONS) & PARITY) != 0;
  }

  /** Returns the sequence number of a data packet, or the sequence number that a NAK requests. */
  static int number(long at) {
    return Memory.ALL.get(Memory.NETWORK_INT, at + NUMBER);
  }

  /** Returns the newest data sequence number of the source. The packet must be an SPM. */
  static int lead(long at) {
    return Memory.ALL.get(Memory.NETWORK_INT, at + LEAD);
  }

  /** Returns a one-line description of a packet. */
  static String describe(long at, int bytes) {
    PgmType type = typeOf(at, bytes);
    if (type == null) {
      return "no PGM packet, " + bytes + " bytes";
    }
    String text = type + " of " + PgmSessionRecord.name(session(at, type));
    if (type == PgmType.SPMR) {
      return text;
    }
    text += " number " + Integer.toUnsignedString(number(at));
    if (type == PgmType.SPM || type.isData()) {
      text += " trail " + Integer.toUnsignedString(Memory.ALL.get(Memory.NETWORK_INT, at + TRAIL));
    }
    return text
        + (type == PgmType.SPM ? " lead " + Integer.toUnsignedString(lead(at)) : "")
        + (isParity(at) ? " parity" : "")
        + (type.isData() ? ", " + unsignedShort(at + DATA_LENGTH) + " bytes" : "");
  }

  /**
   * Writes a packet's header without options and checksum.
   *
   * @param session transport session id; its port becomes the source port, or the destination port
   *     if a receiver sends the packet
   * @param otherPort the other port
   * @param dataBytes length of the data after the header
   */
  static void write(long at, PgmType type, long session, int otherPort, int number, int dataBytes) {
    int port = (int) session & 0xffff;
    int source = type.isFromSource() ? port : otherPort;
    int destination = type.isFromSource() ? otherPort : port;
    Memory.clear(at, HEADER_BYTES);
    Memory.ALL.set(Memory.NETWORK_LONG, at + SOURCE_ID, session & ~0xffffL | dataBytes);
    Memory.ALL.set(Memory.NETWORK_SHORT, at, (short) source);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + DESTINATION_PORT, (short) destination);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, at + TYPE, (byte) type.code());
    Memory.ALL.set(Memory.NETWORK_INT, at + NUMBER, number);
    Memory.ALL.set(Memory.NETWORK_INT, at + TRAIL, number);
  }
}
