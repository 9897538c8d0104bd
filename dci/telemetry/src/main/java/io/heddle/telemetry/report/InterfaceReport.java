package io.heddle.telemetry.report;

/**
 * An interface's counter, by the path that openconfig-interfaces gives it.
 *
 * @param outOctets that it has sent, of its link layer
 */
public record InterfaceReport(String name, long outOctets) {}
