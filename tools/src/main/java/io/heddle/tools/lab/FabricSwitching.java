package io.heddle.tools.lab;

import io.heddle.switching.LabSwitches;
import io.heddle.switching.SprayScope;
import io.heddle.switching.SwitchingMode;

/**
 * Settings of the load balancing of a fabric's switches over equal links. With load balancing,
 * every plane may cross every spine.
 *
 * @param mode mode in which links for data packets are selected
 * @param implementation implementation: {@link #PROGRAM} or {@link #RULES}
 * @param reason reason for using nftables, as a clause; empty for the BPF program
 * @param polarised whether all switches have the same hash
 * @param scope data packets that may be sprayed; other packets are hashed
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
   * Returns the settings. The BPF program is the implementation if this machine can load it;
   * otherwise it is nftables.
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

  /** Returns a description for status output. */
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
