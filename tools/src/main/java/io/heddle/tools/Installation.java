package io.heddle.tools;

import io.heddle.platform.HeddleException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;

/** Where the built parts are, found from the place of this command's own classes. */
final class Installation {
  private static final Path MARK = Path.of("plugin-shim", "pom.xml");
  static final Path PLUGIN = Path.of("plugin-shim", "target", "plugin", "libnccl-net-heddle.so");
  static final Path ALL_REDUCE = Path.of("perf-tests", "target", "heddle-allreduce");
  static final Path PLUGIN_PERF = Path.of("perf-tests", "target", "heddle-plugin-perf");
  static final Path TCP_PLUGIN = Path.of("perf-tests", "target", "libnccl-net-tcpref.so");
  static final Path BENCHMARKS = Path.of("perf-tests", "jmh", "target", "benchmarks.jar");
  static final Path RESULTS = Path.of("perf-tests", "results");

  private Installation() {}

  /**
   * The repository's root: the nearest folder above the classes that has the modules.
   *
   * @throws HeddleException where there is none
   */
  static Path root() {
    CodeSource source = Installation.class.getProtectionDomain().getCodeSource();
    try {
      for (Path at = Path.of(source.getLocation().toURI()); at != null; at = at.getParent()) {
        if (Files.exists(at.resolve(MARK))) {
          return at;
        }
      }
    } catch (URISyntaxException notAFile) {
      throw new HeddleException(
          "can't tell where this command is installed: " + notAFile.getMessage(), notAFile);
    }
    throw new HeddleException(
        "this command isn't inside a Heddle checkout ("
            + source.getLocation()
            + "); name the files with options");
  }

  /**
   * @throws HeddleException where it doesn't exist, with the remedy
   */
  static Path require(Path file, String what) {
    Path absolute = file.toAbsolutePath().normalize();
    if (!Files.isRegularFile(absolute)) {
      throw new HeddleException(
          what + " is missing: " + absolute + "; build it with ./mvnw -DskipTests package");
    }
    return absolute;
  }
}
