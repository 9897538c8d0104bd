package io.heddle.switching;

import java.util.List;

/**
 * Set of data packets that may be sprayed. Without ports and prefixes it is all of them: the global
 * form. With ports it is the interface form, with prefixes that of policy routing, and with both
 * the policy on single interfaces (H3C's white paper, solutions 1 and 2).
 *
 * @param ports ingress {@code switch:interface}; empty for any
 * @param prefixes destinations; empty for any
 */
public record SprayScope(List<String> ports, List<String> prefixes) {
  /** All data packets. */
  public static final SprayScope GLOBAL = new SprayScope(List.of(), List.of());

  public SprayScope {
    ports = List.copyOf(ports);
    prefixes = List.copyOf(prefixes);
  }

  /** Returns the ports of one switch. */
  List<String> portsOf(LabSwitch one) {
    String own = one.name() + ":";
    return ports.stream()
        .filter(port -> port.startsWith(own))
        .map(port -> port.substring(own.length()))
        .toList();
  }

  /** Returns the scope for display. */
  public String text() {
    String at = ports.isEmpty() ? "" : "packets received on " + String.join(", ", ports);
    String to = prefixes.isEmpty() ? "" : "packets to " + String.join(", ", prefixes);
    return at.isEmpty() && to.isEmpty()
        ? "everywhere"
        : at + (at.isEmpty() || to.isEmpty() ? "" : " and ") + to;
  }
}
