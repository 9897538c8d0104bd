package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * An interface, with the leaves' paths of openconfig-interfaces.
 *
 * @param outOctets sent, counted at its link layer
 * @param up whether packets can be sent; null if unknown
 */
public record InterfaceReport(String name, long outOctets, @Nullable Boolean up) {
  /** Creates a report of the counter alone. */
  public InterfaceReport(String name, long outOctets) {
    this(name, outOctets, null);
  }
}
