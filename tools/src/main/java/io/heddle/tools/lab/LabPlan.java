package io.heddle.tools.lab;

import java.util.Locale;

/**
 * Plan of a lab.
 *
 * @param ranks number of hosts, 2 to 250
 * @param planes number of planes of every host, 1 to 250
 * @param mtuBytes MTU of each link, from 1280 (the least that IPv6 allows) to 65535
 */
public record LabPlan(int ranks, int planes, int mtuBytes) {
  public static final int MAX_RANKS = 250;
  public static final int MAX_PLANES = 250;
  public static final int MIN_MTU_BYTES = 1280;
  public static final int MAX_MTU_BYTES = 65535;

  public LabPlan {
    if (ranks < 1 || ranks > MAX_RANKS || planes < 1 || planes > MAX_PLANES) {
      throw new IllegalArgumentException(
          ranks + " ranks with " + planes + " planes: each must be in 1 to 250");
    }
    if (mtuBytes < MIN_MTU_BYTES || mtuBytes > MAX_MTU_BYTES) {
      throw new IllegalArgumentException("MTU " + mtuBytes + " is not in 1280 to 65535");
    }
  }

  /**
   * Returns the name of a plane's interface in every host's namespace. Planes count from 0,
   * interface names from 1.
   */
  public static String interfaceName(int plane) {
    return "e" + (plane + 1);
  }

  /** Returns the MAC address of a host's interface. {@link #address} follows from it by EUI-64. */
  public static String macAddress(int rank, int plane) {
    return String.format(Locale.ROOT, "02:00:00:00:%02x:%02x", plane + 1, rank + 1);
  }

  /**
   * Returns the address that SLAAC would form from the MAC address in the plane's prefix {@code
   * fd00:1:1:<plane + 1>::/64}.
   */
  public static String address(int rank, int plane) {
    return String.format(
        Locale.ROOT, "fd00:1:1:%x:0:ff:fe00:%x", plane + 1, (plane + 1) << 8 | (rank + 1));
  }

  /** Returns the loopback address of a host on a plane, for a lab without namespaces. */
  public static String loopbackAddress(int rank, int plane) {
    return "127.0." + (rank + 1) + "." + (plane + 1);
  }
}
