package io.heddle.systemtests;

import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Paths of files that the build makes. If a file is missing, the test is skipped and the reason
 * printed.
 */
final class BuildOutputs {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  /**
   * Script that starts commands. The build doesn't make it, but packages install it with the built
   * files.
   */
  static final Path START = ROOT.resolve("packaging/start.sh");

  private BuildOutputs() {}

  static Path plugin() {
    return require("plugin-shim/target/plugin/libnccl-net-heddle.so");
  }

  /** Returns the jar of the {@code heddle} command with a checkout's tools and all Java classes. */
  static Path tools() {
    return require("tools/target/heddle-tools.jar");
  }

  static Path allReduce() {
    return require("perf-tests/target/heddle-allreduce");
  }

  static Path amongThreads() {
    return require("perf-tests/target/heddle-among-threads");
  }

  static Path tcpPlugin() {
    return require("perf-tests/target/libnccl-net-tcpref.so");
  }

  static Path pluginPerf() {
    return require("perf-tests/target/heddle-plugin-perf");
  }

  static Path conformance() {
    return require("perf-tests/target/heddle-conformance");
  }

  static Path connections() {
    return require("perf-tests/target/heddle-connections");
  }

  static Path habits() {
    return require("perf-tests/target/heddle-habits");
  }

  static Path oneSided() {
    return require("perf-tests/target/heddle-one-sided");
  }

  static Path oneSidedChaos() {
    return require("perf-tests/target/heddle-one-sided-chaos");
  }

  static Path chaos() {
    return require("perf-tests/target/heddle-chaos");
  }

  /** Returns the path of the stand-in for libibverbs. */
  static Path standin() {
    return require("perf-tests/target/standin/libibverbs.so.1");
  }

  /**
   * Returns the path of the test double of librdmacm that belongs to the stand-in for libibverbs.
   */
  static Path standinManager() {
    return require("perf-tests/target/standin-cm/librdmacm.so.1");
  }

  /**
   * Returns the folders of the stand-in for libibverbs and of the test double of librdmacm, as a
   * value of LD_LIBRARY_PATH.
   */
  static String standinWithManager() {
    return standin().getParent() + ":" + standinManager().getParent();
  }

  static Path standinControl() {
    return require("perf-tests/target/standin-control");
  }

  /** Returns the path of the program that measures the cost of verbs from C. */
  static String cost() {
    return require("perf-tests/target/heddle-verbs-cost").toString();
  }

  private static Path require(String part) {
    Path file = ROOT.resolve(part);
    if (!Files.isRegularFile(file)) {
      Skip.because(part + " isn't built");
    }
    return file;
  }
}
