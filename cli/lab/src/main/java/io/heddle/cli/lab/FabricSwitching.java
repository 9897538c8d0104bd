package io.heddle.cli.lab;

import io.heddle.switching.LabSwitches;
import io.heddle.switching.SprayScope;
import io.heddle.switching.SwitchingMode;

/**
 * How the switches of a fabric choose among equal links; every plane may then cross every spine.
 *
 * @param mode for data packets
 * @param means the BPF program's or nftables' name, {@link #PROGRAM} or {@link #RULES}
 * @param why the means were taken, a clause for people; empty where it is the program
 * @param polarised whether all switches have the same hash
 * @param scope which data packets may be sprayed
 * @param perPacket whether hosts send single packets instead of trains
 */
public record FabricSwitching(
    SwitchingMode mode,
    String means,
    String why,
    boolean polarised,
    SprayScope scope,
    boolean perPacket) {
  /** A BPF program on the switches' ports. */
  public static final String PROGRAM = "bpf";

  /** Rules of nftables. */
  public static final String RULES = "nft";

  /**
   * With the program where this machine can load it, and the rules otherwise.
   *
   * @param rulesOnly whether the rules are asked for
   */
  public static FabricSwitching of(
      SwitchingMode mode,
      boolean polarised,
      SprayScope scope,
      boolean perPacket,
      boolean rulesOnly) {
    String refusal = rulesOnly ? "they were asked for" : LabSwitches.programRefusal().orElse("");
    return new FabricSwitching(
        mode, refusal.isEmpty() ? PROGRAM : RULES, refusal, polarised, scope, perPacket);
  }

  boolean byProgram() {
    return means.equals(PROGRAM);
  }

  /** For people, a line. */
  String text() {
    String by =
        byProgram()
            ? "by the BPF program"
            : "by nftables ("
                + why
                + ")"
                + (mode == SwitchingMode.SPRAYLINK ? ", which see no load: at random" : "");
    return mode.text()
        + " "
        + by
        + ", "
        + (polarised ? "the same hash" : "a hash of its own")
        + " at each switch"
        + (mode == SwitchingMode.HASH
            ? ""
            : "; sprays " + scope.text() + (perPacket ? ", single packets" : ", trains"));
  }
}
