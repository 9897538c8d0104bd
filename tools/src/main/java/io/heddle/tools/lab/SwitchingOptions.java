package io.heddle.tools.lab;

import io.heddle.addr.AddressPrefix;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options for load balancing by a lab's switches over equal links. */
public final class SwitchingOptions {
  @Option(
      names = "--switching",
      paramLabel = "MODE",
      description =
          "Load balancing of RoCEv2 by leaves over all links to spines, and by spines over several"
              + " links to a leaf: hash; spray, data packets at random; or spraylink, data packets"
              + " by load. Without it each plane has its own path.")
  private @Nullable SwitchingMode mode;

  @Option(
      names = "--polarised",
      description = "Give all switches the same hash, so that all tiers make the same choices.")
  private boolean polarised;

  @Option(
      names = "--spray-on",
      split = ",",
      paramLabel = "SWITCH:PORT",
      description = "Spray only packets received on these ports, such as l1:h1.")
  private List<String> ports = List.of();

  @Option(
      names = "--spray-to",
      split = ",",
      paramLabel = "PREFIX",
      description = "Spray only packets to these prefixes, as policy routing would.")
  private List<String> prefixes = List.of();

  @Option(
      names = "--per-packet",
      description =
          "Hosts send single packets; otherwise switches handle a segment train as one packet.")
  private boolean perPacket;

  /** Returns the settings that the options describe; null without load balancing. */
  @Nullable FabricSwitching checked(CommandLine line, FabricPlan plan) {
    if (mode == null) {
      for (String other : List.of("--polarised", "--spray-on", "--spray-to", "--per-packet")) {
        if (line.getParseResult().hasMatchedOption(other)) {
          throw LabCommand.usage(line, other + " requires --switching");
        }
      }
      return null;
    }
    if (plan.shape() != FabricShape.LEAF_SPINE || plan.planes() < 2) {
      throw LabCommand.usage(
          line, "--switching requires --shape leaf-spine with two or more spines or links");
    }
    for (String prefix : prefixes) {
      try {
        if (AddressPrefix.parse(prefix).address().getAddress().length != 16) {
          throw LabCommand.usage(line, "--spray-to " + prefix + " is not an IPv6 prefix");
        }
      } catch (IllegalArgumentException malformed) {
        throw LabCommand.usage(line, "--spray-to: " + malformed.getMessage());
      }
    }
    return new FabricSwitching(mode, polarised, new SprayScope(ports, prefixes), perPacket);
  }
}
