package io.heddle.systemtests;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the build made; a test that needs a part which isn't there is skipped with a printed reason.
 */
final class BuiltParts {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  private BuiltParts() {}

  static Path plugin() {
    return require("plugin-shim/target/plugin/libnccl-net-heddle.so");
  }

  static Path allReduce() {
    return require("perf-tests/target/heddle-allreduce");
  }

  static Path conformance() {
    return require("perf-tests/target/heddle-conformance");
  }

  private static Path require(String part) {
    Path file = ROOT.resolve(part);
    if (!Files.isRegularFile(file)) {
      DemoProcess.skip(part + " isn't built");
    }
    return file;
  }
}
