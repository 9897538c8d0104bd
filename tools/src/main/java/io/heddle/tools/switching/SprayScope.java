package io.heddle.tools.switching;

import java.util.List;

/**
 * Set of data packets that may be sprayed. Without ports and prefixes it contains all data packets.
 * Ports restrict it to packets received on these ports, prefixes to packets to these destinations.
 * The forms are those of H3C's white paper (solutions 1 and 2): global, by interface, by policy
 * routing, and by policy routing on single interfaces.
 *
 * @param ports ports on which packets are received, as {@code switch:interface}; empty for any port
 * @param prefixes prefixes of destinations; empty for any destination
 */
public record SprayScope(List<String> ports, List<String> prefixes) {
  /** Scope of all data packets. */
  public static final SprayScope GLOBAL = new SprayScope(List.of(), List.of());

  public SprayScope {
    ports = List.copyOf(ports);
    prefixes = List.copyOf(prefixes);
  }

  /** Returns the ports of the scope that belong to one switch. */
  List<String> portsOf(LabSwitch one) {
    String own = one.name() + ":";
    return ports.stream()
        .filter(port -> port.startsWith(own))
        .map(port -> port.substring(own.length()))
        .toList();
  }

  /** Returns the scope as text. */
  public String text() {
    String at = ports.isEmpty() ? "" : "packets received on " + String.join(", ", ports);
    String to = prefixes.isEmpty() ? "" : "packets to " + String.join(", ", prefixes);
    return at.isEmpty() && to.isEmpty()
        ? "everywhere"
        : at + (at.isEmpty() || to.isEmpty() ? "" : " and ") + to;
  }
}
