package io.heddle.tools.lab;

import io.heddle.switching.LabSwitches;
import io.heddle.switching.SprayScope;
import io.heddle.switching.SwitchingMode;

/**
 * Load balancing of a fabric's switches over equal links; every plane may then cross every spine.
 *
 * @param mode mode for data packets
 * @param implementation implementation: {@link #PROGRAM} or {@link #RULES}
 * @param reason reason for using nftables, a clause for people; empty for the program
 * @param polarised whether all switches have the same hash
 * @param scope data packets that may be sprayed
 * @param perPacket whether hosts send single packets instead of segment trains
 */
public record FabricSwitching(
    SwitchingMode mode,
    String implementation,
    String reason,
    boolean polarised,
    SprayScope scope,
    boolean perPacket) {
  /** Implementation by a BPF program on the switches' ports. */
  public static final String PROGRAM = "bpf";

  /** Implementation by nftables rules. */
  public static final String RULES = "nft";

  /**
   * Returns the settings, with the BPF program if this machine can load it, and nftables otherwise.
   *
   * @param rulesOnly whether nftables is required
   */
  public static FabricSwitching of(
      SwitchingMode mode,
      boolean polarised,
      SprayScope scope,
      boolean perPacket,
      boolean rulesOnly) {
    String refusal = rulesOnly ? "requested" : LabSwitches.programRefusal().orElse("");
    return new FabricSwitching(
        mode, refusal.isEmpty() ? PROGRAM : RULES, refusal, polarised, scope, perPacket);
  }

  boolean usesBpf() {
    return implementation.equals(PROGRAM);
  }

  /** Returns a line for people. */
  String text() {
    String by =
        usesBpf()
            ? "by the BPF program"
            : "by nftables ("
                + reason
                + ")"
                + (mode == SwitchingMode.SPRAYLINK
                    ? ", at random, since they don't see the load"
                    : "");
    return mode.text()
        + " "
        + by
        + ", "
        + (polarised ? "the same hash" : "a separate hash")
        + " at each switch"
        + (mode == SwitchingMode.HASH
            ? ""
            : "; sprays " + scope.text() + (perPacket ? ", single packets" : ", trains"));
  }
}
