package io.heddle.tools.bench;

import io.heddle.tools.lab.Program;
import io.heddle.switching.LabSwitches;
import java.util.List;
import java.util.Optional;

/** Software that some measurements need beside a built checkout. */
enum Requirement {
  /** BIRD, the routers of a fabric. */
  BIRD {
    @Override
    Optional<String> missing() {
      return Program.missing(List.of(Program.BIRD));
    }
  },

  /** nftables, which counts packets and drops them. */
  NFTABLES {
    @Override
    Optional<String> missing() {
      return Program.missing(List.of(Program.NFT));
    }
  },

  /**
   * The switches' BPF program: compiled with clang into the build, loaded by libbpf and the kernel.
   */
  BPF {
    @Override
    Optional<String> missing() {
      return LabSwitches.programRefusal();
    }
  },

  /** OpenSSL, which makes certificates. */
  OPENSSL {
    @Override
    Optional<String> missing() {
      return Program.missing(List.of(Program.OPENSSL));
    }
  };

  /** Returns the missing software with its remedy; empty if this machine has it. */
  abstract Optional<String> missing();
}
