package io.heddle.tools.bench;

import io.heddle.switching.LabSwitches;
import io.heddle.tools.lab.Program;
import java.util.List;
import java.util.Optional;

/** Software that some measurements need in addition to a built checkout. */
enum Requirement {
  /** BIRD, which runs the routers of a fabric. */
  BIRD {
    @Override
    Optional<String> missing() {
      return Program.missing(List.of(Program.BIRD));
    }
  },

  /** nftables, which counts and drops packets. */
  NFTABLES {
    @Override
    Optional<String> missing() {
      return Program.missing(List.of(Program.NFT));
    }
  },

  /**
   * The switches' BPF program, which clang compiles during the build, and which libbpf and the
   * kernel must be able to load.
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

  /** Returns the name of the missing software and how to get it; empty if this machine has it. */
  abstract Optional<String> missing();
}
