package io.heddle.bridge.group;

import io.heddle.verbs.Gid;
import java.util.Locale;

/**
 * A multicast group as configured.
 *
 * @param address of the group, IPv4 mapped
 * @param port of RDMA-CM's, which stands in MGIDs of the format CLLM; 0 for none
 * @param mgid its format in an InfiniBand fabric
 * @param direction which ways packets go
 * @param trafficClass of the packets that leave, 0 to 255
 * @param owner the bridge that owns it where several do; 0 for that which their numbers give
 * @param pgm whether its packets are read as PGM
 * @param limit of the packets that leave, for each direction by itself
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

  /** How the group is named in fabrics. */
  public GroupAddress where() {
    return new GroupAddress(address, port, mgid);
  }

  /** As an operator names the group: {@code 239.1.1.1:4711}. */
  public String name() {
    if (port == 0) {
      return address.toString();
    }
    return (address.isIpv4Mapped() ? address.toString() : "[" + address + "]") + ":" + port;
  }

  /** Its settings, as in the configuration. */
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
