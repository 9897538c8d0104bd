package io.heddle.bgp.flowspec.rule;

/** Packet field that a rule's component matches (RFC 8955 §4.2.2, RFC 8956 §3). */
public enum FlowField {
  DESTINATION(1, Kind.PREFIX, "to"),
  SOURCE(2, Kind.PREFIX, "from"),
  /** Upper-layer protocol. */
  PROTOCOL(3, Kind.NUMERIC, "protocol"),
  /** Source or destination port. */
  PORT(4, Kind.NUMERIC, "port"),
  DESTINATION_PORT(5, Kind.NUMERIC, "destination port"),
  SOURCE_PORT(6, Kind.NUMERIC, "source port"),
  ICMP_TYPE(7, Kind.NUMERIC, "ICMP type"),
  ICMP_CODE(8, Kind.NUMERIC, "ICMP code"),
  TCP_FLAGS(9, Kind.BITMASK, "TCP flags"),
  LENGTH(10, Kind.NUMERIC, "length"),
  DSCP(11, Kind.NUMERIC, "DSCP"),
  FRAGMENT(12, Kind.BITMASK, "fragment"),
  FLOW_LABEL(13, Kind.NUMERIC, "flow label"),
  /**
   * Destination queue pair in RoCEv2's base transport header (draft-lll-idr-flowspec-filter-qp).
   * {@link ComponentTypes} has the number of its component type.
   */
  QUEUE_PAIR(0, Kind.NUMERIC, "queue pair");

  /** Encoding of a component's value. */
  public enum Kind {
    PREFIX,
    NUMERIC,
    BITMASK
  }

  private final int registered;
  private final Kind kind;
  private final String text;

  FlowField(int registered, Kind kind, String text) {
    this.registered = registered;
    this.kind = kind;
    this.text = text;
  }

  /** Returns the component type that IANA has registered; 0 if there is none. */
  public int registeredType() {
    return registered;
  }

  public Kind kind() {
    return kind;
  }

  /** Returns the field's name for messages. */
  public String text() {
    return text;
  }
}
