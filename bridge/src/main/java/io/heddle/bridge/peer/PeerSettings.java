package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * How a bridge takes part among others, as configured.
 *
 * @param id its number, above 0, which no other has
 * @param priority bridges of the highest one share the groups
 * @param weight its share among those of the same priority, above 0
 * @param intervalMs between two beacons
 * @param reserve whether it takes nothing while another bridge can
 * @param keyFile where the key is; empty for none
 * @param key that signs beacons; null for none
 * @param group that beacons go to; null for the standard one of each fabric's family
 * @param port that they go to
 */
public record PeerSettings(
    int id,
    int priority,
    int weight,
    int intervalMs,
    boolean reserve,
    String keyFile,
    @Nullable BeaconKey key,
    @Nullable Gid group,
    int port) {
  public static final int PRIORITY = 100;
  public static final int WEIGHT = 1;
  public static final int INTERVAL_MS = 100;
  public static final int PORT = 14_791;

  /** Where beacons go on a fabric with IPv4 addresses: of administrative scope, RFC 2365. */
  public static final Gid GROUP_4 = new Gid(0, 0xffff_efff_2f5bL);

  /** The same where there are IPv6 addresses only: transient, of the link, RFC 4291. */
  public static final Gid GROUP_6 = new Gid(0xff12L << 48, 0x4791);

  /**
   * The group that beacons go to.
   *
   * @param ipv4 whether the fabric has IPv4 addresses
   */
  public Gid groupOf(boolean ipv4) {
    return group != null ? group : ipv4 ? GROUP_4 : GROUP_6;
  }

  /** What can't change while the bridge runs, as in the configuration. */
  public String identity() {
    return "bridge-id="
        + id
        + " beacon="
        + intervalMs
        + "ms port="
        + port
        + (group == null ? "" : " group=" + group)
        + (keyFile.isEmpty() ? "" : " key-file=" + keyFile);
  }

  @Override
  public String toString() {
    return identity() + " priority=" + priority + " weight=" + weight;
  }
}
