package io.heddle.systemtests;

import io.heddle.cli.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the build made; a test that needs a part which isn't there is skipped with a printed reason.
 */
final class BuildOutputs {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  /** The script that starts commands; not built, but installed with what is. */
  static final Path START = ROOT.resolve("packaging/start.sh");

  private BuildOutputs() {}

  static Path plugin() {
    return require("plugin-shim/target/plugin/libnccl-net-heddle.so");
  }

  /** The command with all that it needs of Java. */
  static Path tools() {
    return require("cli/heddle/target/heddle-cli.jar");
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

  /** The stand-in for libibverbs, in a folder of its own. */
  static Path standin() {
    return require("perf-tests/target/standin/libibverbs.so.1");
  }

  /** Its double of librdmacm, in a folder of its own. */
  static Path standinManager() {
    return require("perf-tests/target/standin-cm/librdmacm.so.1");
  }

  /** Both, as a path that libraries are looked for in. */
  static String standinWithManager() {
    return standin().getParent() + ":" + standinManager().getParent();
  }

  static Path standinControl() {
    return require("perf-tests/target/standin-control");
  }

  /** The command that measures verbs from C. */
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
