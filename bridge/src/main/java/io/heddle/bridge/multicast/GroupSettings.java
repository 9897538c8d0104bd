package io.heddle.bridge.multicast;

import io.heddle.verbs.Gid;
import java.util.Locale;

/**
 * Configuration of a multicast group.
 *
 * @param address IP address of the group, IPv4 in mapped form
 * @param port port number of RDMA CM, which MGIDs in the CLLM format contain; 0 for none
 * @param mgid format of the group's MGID in an InfiniBand fabric
 * @param direction directions in which packets are forwarded
 * @param trafficClass traffic class of the forwarded packets, 0 to 255
 * @param owner number of the bridge that owns the group if several run; 0 if a hash decides
 * @param pgm whether the group's packets are parsed as PGM (RFC 3208)
 * @param limit rate limit of the forwarded packets, for each direction separately
 */
public record GroupSettings(
    Gid address,
    int port,
    MgidFormat mgid,
    FlowDirection direction,
    int trafficClass,
    int owner,
    boolean pgm,
    RateLimit limit) {

  /** Returns the group's identity in fabrics. */
  public GroupAddress where() {
    return new GroupAddress(address, port, mgid);
  }

  /** Returns the operator's name of the group, such as {@code 239.1.1.1:4711}. */
  public String name() {
    if (port == 0) {
      return address.toString();
    }
    return (address.isIpv4Mapped() ? address.toString() : "[" + address + "]") + ":" + port;
  }

  /** Returns the settings as {@code key=value} pairs. */
  public String describe() {
    String class16 = String.format(Locale.ROOT, "0x%02x", trafficClass);
    return "mgid="
        + mgid.word()
        + " direction="
        + direction.word()
        + " tos="
        + class16
        + (owner == 0 ? "" : " owner=" + owner)
        + (pgm ? " pgm=yes" : "")
        + limit.describe();
  }
}
