package io.heddle.switching;

import java.util.List;

/**
 * Which data packets may be sprayed. Without ports and prefixes it is all of them: the global form.
 * With ports it is the form of single interfaces, with prefixes that of policy routing, with both
 * the policy of single interfaces (H3C's white paper, solutions 1 and 2).
 *
 * @param ports {@code switch:interface} by which they come in; any where there are none
 * @param prefixes to which they go; any where there are none
 */
public record SprayScope(List<String> ports, List<String> prefixes) {
  /** Everywhere. */
  public static final SprayScope GLOBAL = new SprayScope(List.of(), List.of());

  public SprayScope {
    ports = List.copyOf(ports);
    prefixes = List.copyOf(prefixes);
  }

  /** The ports of one switch. */
  List<String> portsOf(LabSwitch one) {
    String own = one.name() + ":";
    return ports.stream()
        .filter(port -> port.startsWith(own))
        .map(port -> port.substring(own.length()))
        .toList();
  }

  /** For people. */
  public String text() {
    String at = ports.isEmpty() ? "" : "what comes in by " + String.join(", ", ports);
    String to = prefixes.isEmpty() ? "" : "what goes to " + String.join(", ", prefixes);
    return at.isEmpty() && to.isEmpty()
        ? "everywhere"
        : at + (at.isEmpty() || to.isEmpty() ? "" : " and is ") + to;
  }
}
