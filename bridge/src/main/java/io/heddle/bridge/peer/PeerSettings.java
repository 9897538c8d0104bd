package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Settings of redundancy for one of several bridges.
 *
 * @param id unique number of the bridge, above 0
 * @param priority priority of the bridge; the bridges of the highest priority share the groups
 * @param weight the bridge's share, relative to the other bridges of the same priority; above 0
 * @param intervalMs interval of the beacons
 * @param reserve whether the bridge owns nothing while another bridge can
 * @param keyFile path of the file with the key; empty for none
 * @param key key that signs beacons; null for none
 * @param group multicast group that beacons are sent to; null for the default group of the fabric's
 *     address family
 * @param port destination port of beacons
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

  /** Default group of beacons on a fabric with IPv4 addresses: administrative scope, RFC 2365. */
  public static final Gid GROUP_4 = new Gid(0, 0xffff_efff_2f5bL);

  /** Default group on a fabric with IPv6 addresses only: transient, link scope, RFC 4291. */
  public static final Gid GROUP_6 = new Gid(0xff12L << 48, 0x4791);

  /**
   * Returns the destination group of beacons.
   *
   * @param ipv4 whether the fabric has IPv4 addresses
   */
  public Gid groupOf(boolean ipv4) {
    return group != null ? group : ipv4 ? GROUP_4 : GROUP_6;
  }

  @Override
  public String toString() {
    return "bridge-id="
        + id
        + " beacon="
        + intervalMs
        + "ms port="
        + port
        + (group == null ? "" : " group=" + group)
        + (keyFile.isEmpty() ? "" : " key-file=" + keyFile)
        + " priority="
        + priority
        + " weight="
        + weight;
  }
}
