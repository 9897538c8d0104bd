package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * An interface, by the paths that openconfig-interfaces gives its leaves.
 *
 * @param outOctets that it has sent, of its link layer
 * @param up whether packets can be sent; null where that isn't known
 */
public record InterfaceReport(String name, long outOctets, @Nullable Boolean up) {
  /** Its counter alone. */
  public InterfaceReport(String name, long outOctets) {
    this(name, outOctets, null);
  }
}
