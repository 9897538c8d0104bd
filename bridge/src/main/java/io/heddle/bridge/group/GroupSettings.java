package io.heddle.bridge.group;

import io.heddle.verbs.Gid;
import java.util.Locale;

/**
 * Configuration of a multicast group.
 *
 * @param address of the group, IPv4 mapped
 * @param port of RDMA CM, a part of MGIDs in the CLLM format; 0 for none
 * @param mgid its format in an InfiniBand fabric
 * @param direction in which packets are forwarded
 * @param trafficClass of the packets that leave, 0 to 255
 * @param owner the bridge that owns it if several run; 0 for the owner by hash
 * @param pgm whether its packets are parsed as PGM
 * @param limit of the packets that leave, for each direction separately
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

  /** Returns the group's name in fabrics. */
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

  /** Returns its settings in configuration syntax. */
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
