package io.heddle.addr;

/** Reason why an address can't carry a plane. */
public enum UnusableReason {
  LOOPBACK("it is a loopback address; only HEDDLE_PLANES can name one"),
  IPV4(
      "it is an IPv4 address, and the planes are IPv6; HEDDLE_PLANES or NCCL_IB_ADDR_FAMILY=AF_INET"
          + " selects it"),
  BRIDGE(
      "it is an IPv4 address of a bridge, as containers have on every host; HEDDLE_PLANES can name"
          + " it"),
  CONTAINERS(
      "its interface is of a kind that containers or virtual machines have on every host;"
          + " HEDDLE_PLANES can name it"),
  LINK_LOCAL("it is link-local, so no router forwards it"),
  MULTICAST_OR_UNSPECIFIED("it is not a unicast address"),
  DUPLICATE("another host has the same address (duplicate detection failed)"),
  TENTATIVE("it is tentative: duplicate detection hasn't ended"),
  DEPRECATED("it is deprecated: its preferred lifetime is over"),
  TEMPORARY("it is a temporary (privacy) address, which will change"),
  LINK_DOWN("its interface is down or has no carrier");

  private final String reason;

  UnusableReason(String reason) {
    this.reason = reason;
  }

  /** Returns a clause that follows "isn't used: ". */
  public String reason() {
    return reason;
  }
}
