package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * Report of a network interface, with values of openconfig-interfaces.
 *
 * @param outOctets number of bytes sent, counted at the link layer
 * @param up whether the interface can send packets; null if unknown
 */
public record InterfaceReport(String name, long outOctets, @Nullable Boolean up) {
  /** Creates a report that has only the counter. */
  public InterfaceReport(String name, long outOctets) {
    this(name, outOctets, null);
  }
}
