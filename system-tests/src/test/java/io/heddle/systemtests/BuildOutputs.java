package io.heddle.systemtests;

import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of the build. A test that needs a missing file is skipped, with a printed reason. */
final class BuildOutputs {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  /** The script that starts commands. It is not built, but is installed with the built files. */
  static final Path START = ROOT.resolve("packaging/start.sh");

  private BuildOutputs() {}

  static Path plugin() {
    return require("plugin-shim/target/plugin/libnccl-net-heddle.so");
  }

  /** The command with a checkout's tools, with all Java classes. */
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

  /** Folder of the stand-in for libibverbs. */
  static Path standin() {
    return require("perf-tests/target/standin/libibverbs.so.1");
  }

  /** Path of the stand-in's double of librdmacm. */
  static Path standinManager() {
    return require("perf-tests/target/standin-cm/librdmacm.so.1");
  }

  /** The folders of the stand-in and of its double of librdmacm, as a library path. */
  static String standinWithManager() {
    return standin().getParent() + ":" + standinManager().getParent();
  }

  static Path standinControl() {
    return require("perf-tests/target/standin-control");
  }

  /** The program that measures verbs from C. */
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
