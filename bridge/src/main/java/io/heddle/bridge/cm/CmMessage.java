package io.heddle.bridge.cm;

/**
 * What a management datagram is to a bridge, by its attribute (InfiniBand Architecture
 * Specification, volume 1, section 12.6).
 */
public enum CmMessage {
  /** Asks for a reliable connection: REQ. */
  CONNECT_REQUEST(0x10),

  /** Refuses a connection: REJ. */
  CONNECT_REJECT(0x12),

  /** Asks for the number of a service's datagram queue pair: SIDR_REQ. */
  SIDR_REQUEST(0x17),

  /** Tells that number, or why there is none: SIDR_REP. */
  SIDR_REPLY(0x18),

  /** Any other message of the communication manager. */
  OTHER(-1),

  /** A datagram of another class. */
  FOREIGN(-1),

  /** Neither the length nor the versions of a datagram that is known. */
  MALFORMED(-1);

  private final int attribute;

  CmMessage(int attribute) {
    this.attribute = attribute;
  }

  int attribute() {
    return attribute;
  }

  static CmMessage ofAttribute(int attribute) {
    return switch (attribute) {
      case 0x10 -> CONNECT_REQUEST;
      case 0x12 -> CONNECT_REJECT;
      case 0x17 -> SIDR_REQUEST;
      case 0x18 -> SIDR_REPLY;
      default -> OTHER;
    };
  }
}
