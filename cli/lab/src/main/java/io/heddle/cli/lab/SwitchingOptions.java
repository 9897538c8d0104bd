package io.heddle.cli.lab;

import io.heddle.addr.AddressPrefix;
import io.heddle.switching.SprayScope;
import io.heddle.switching.SwitchingMode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** How a lab's switches are to choose among equal links. */
public final class SwitchingOptions {
  @Option(
      names = "--switching",
      paramLabel = "MODE",
      description =
          "Has leaves choose among all links to spines for RoCEv2, and spines among several links"
              + " to a leaf: hash; spray, data packets at random; spraylink, data packets by load."
              + " Without it each plane has a path of its own.")
  private @Nullable SwitchingMode mode;

  @Option(
      names = "--polarised",
      description = "All switches have the same hash, so that tiers choose alike.")
  private boolean polarised;

  @Option(
      names = "--spray-on",
      split = ",",
      paramLabel = "SWITCH:PORT",
      description = "Spray only what comes in by these ports, such as l1:h1.")
  private List<String> ports = List.of();

  @Option(
      names = "--spray-to",
      split = ",",
      paramLabel = "PREFIX",
      description = "Spray only what goes to these prefixes, as policy routing would.")
  private List<String> prefixes = List.of();

  @Option(
      names = "--per-packet",
      description = "Hosts send single packets; otherwise switches take a train as one packet.")
  private boolean perPacket;

  @Option(names = "--nft", description = "Use nftables even where the BPF program can be loaded.")
  private boolean rulesOnly;

  /** What was asked for; null for no choice. */
  @Nullable FabricSwitching checked(CommandLine line, FabricPlan plan) {
    if (mode == null) {
      for (String other :
          List.of("--polarised", "--spray-on", "--spray-to", "--per-packet", "--nft")) {
        if (line.getParseResult().hasMatchedOption(other)) {
          throw LabCommand.usage(line, other + " is for --switching");
        }
      }
      return null;
    }
    if (plan.shape() != FabricShape.LEAF_SPINE || plan.planes() < 2) {
      throw LabCommand.usage(
          line, "--switching takes --shape leaf-spine with two spines or links and more");
    }
    for (String prefix : prefixes) {
      try {
        if (AddressPrefix.parse(prefix).address().getAddress().length != 16) {
          throw LabCommand.usage(line, "--spray-to " + prefix + " is no IPv6 prefix");
        }
      } catch (IllegalArgumentException malformed) {
        throw LabCommand.usage(line, "--spray-to: " + malformed.getMessage());
      }
    }
    return FabricSwitching.of(
        mode, polarised, new SprayScope(ports, prefixes), perPacket, rulesOnly);
  }
}
