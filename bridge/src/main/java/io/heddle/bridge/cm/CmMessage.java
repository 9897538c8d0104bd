package io.heddle.bridge.cm;

/**
 * Kind of a management datagram, by its attribute (InfiniBand Architecture Specification, volume 1,
 * section 12.6).
 */
public enum CmMessage {
  /** REQ: requests a reliable connection. */
  CONNECT_REQUEST(0x10),

  /** REJ: rejects a connection. */
  CONNECT_REJECT(0x12),

  /** SIDR_REQ: requests the number of a service's datagram queue pair. */
  SIDR_REQUEST(0x17),

  /** SIDR_REP: contains the number of the requested queue pair, or the reason for its absence. */
  SIDR_REPLY(0x18),

  /** Another message of the communication manager. */
  OTHER(-1),

  /** Datagram of another management class. */
  FOREIGN(-1),

  /** Datagram whose length or versions are wrong. */
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
