package io.heddle.tools.bench;

import io.heddle.tools.lab.Program;
import io.heddle.tools.switching.LabSwitches;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Software that some measurements need in addition to a built checkout. */
enum Requirement {
  /** BIRD, which runs the routers of a fabric. */
  BIRD(() -> Program.missing(List.of(Program.BIRD))),
  /** nftables, which counts and drops packets. */
  NFT(() -> Program.missing(List.of(Program.NFT))),
  /**
   * The switches' BPF program, which clang compiles during the build, and which libbpf and the
   * kernel must be able to load.
   */
  BPF(LabSwitches::refusal),
  /** OpenSSL, which makes certificates. */
  OPENSSL(() -> Program.missing(List.of(Program.OPENSSL)));

  private final Supplier<Optional<String>> missing;

  Requirement(Supplier<Optional<String>> missing) {
    this.missing = missing;
  }

  /** Returns the name of the missing software and how to get it; empty if this machine has it. */
  Optional<String> missing() {
    return missing.get();
  }
}
