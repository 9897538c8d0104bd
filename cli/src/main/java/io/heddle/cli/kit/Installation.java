package io.heddle.cli.kit;

import io.heddle.platform.HeddleException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locations of the built parts (libraries, programs, scripts), derived from the location of this
 * command's classes. In a checkout each part is where the build put it. In an installed Heddle all
 * parts are in the folder of the command's jar.
 */
public final class Installation {
  private static final Path MARK = Path.of("plugin-shim", "pom.xml");
  public static final Path PLUGIN =
      Path.of("plugin-shim", "target", "plugin", "libnccl-net-heddle.so");
  static final Path START = Path.of("packaging", "start.sh");
  public static final Path ALL_REDUCE = Path.of("perf-tests", "target", "heddle-allreduce");
  public static final Path AMONG_THREADS = Path.of("perf-tests", "target", "heddle-among-threads");
  public static final Path CHAOS = Path.of("perf-tests", "target", "heddle-chaos");
  public static final Path CONNECTIONS = Path.of("perf-tests", "target", "heddle-connections");
  public static final Path DATAGRAM_FORWARDER =
      Path.of("perf-tests", "target", "heddle-datagram-forwarder");
  public static final Path ONE_SIDED = Path.of("perf-tests", "target", "heddle-one-sided");
  public static final Path ONE_SIDED_CHAOS =
      Path.of("perf-tests", "target", "heddle-one-sided-chaos");
  public static final Path ONE_SIDED_PERF =
      Path.of("perf-tests", "target", "heddle-one-sided-perf");
  public static final Path PLUGIN_PERF = Path.of("perf-tests", "target", "heddle-plugin-perf");
  public static final Path CALL_COST = Path.of("perf-tests", "target", "heddle-call-cost");
  public static final Path VERBS_PLUGIN =
      Path.of("perf-tests", "target", "libnccl-net-verbsref.so");
  public static final Path STANDIN = Path.of("perf-tests", "target", "standin", "libibverbs.so.1");
  public static final Path STANDIN_CONTROL = Path.of("perf-tests", "target", "standin-control");
  public static final Path VERBS_COST = Path.of("perf-tests", "target", "heddle-verbs-cost");
  public static final Path TCP_PLUGIN = Path.of("perf-tests", "target", "libnccl-net-tcpref.so");
  public static final Path BENCHMARKS = Path.of("perf-tests", "jmh", "target", "benchmarks.jar");
  /* Parts that the build makes only if the verbs header is installed. */
  private static final List<Path> OVER_VERBS =
      List.of(VERBS_PLUGIN, STANDIN, STANDIN_CONTROL, VERBS_COST);
  private static final Path VERBS_HEADER = Path.of("/usr/include/infiniband/verbs.h");
  public static final Path RESULTS = Path.of("perf-tests", "results");

  private Installation() {}

  /**
   * Returns the root of the checkout: the nearest folder above this command's classes that contains
   * the modules.
   *
   * @throws HeddleException if the command isn't in a checkout
   */
  public static Path root() {
    Path root = checkout();
    if (root == null) {
      throw new HeddleException("this takes a Heddle checkout, and " + own() + " isn't inside one");
    }
    return root;
  }

  /** Returns the path of a part in the checkout or the installation, whether it exists or not. */
  public static Path part(Path built) {
    Path root = checkout();
    return root == null ? own().resolveSibling(built.getFileName()) : root.resolve(built);
  }

  /**
   * Returns the folder for measurements: that of the checkout, or the current folder without a
   * checkout.
   */
  public static Path results() {
    Path root = checkout();
    return root == null ? Path.of("") : root.resolve(RESULTS);
  }

  private static @Nullable Path checkout() {
    /* A package that is unpacked inside a checkout uses its own parts. */
    if (Files.exists(own().resolveSibling(PLUGIN.getFileName()))) {
      return null;
    }
    for (Path at = own(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve(MARK))) {
        return at;
      }
    }
    return null;
  }

  /* Returns the jar or the folder of this command's classes. */
  private static Path own() {
    CodeSource source = Installation.class.getProtectionDomain().getCodeSource();
    try {
      return Path.of(source.getLocation().toURI());
    } catch (URISyntaxException notAFile) {
      throw new HeddleException(
          "the folder in which this command is installed is unknown: " + notAFile.getMessage(),
          notAFile);
    }
  }

  /**
   * Returns the path of a part in the checkout or the installation.
   *
   * @param what name of the part in the message
   * @throws HeddleException with the remedy if the part is missing
   */
  public static Path requirePart(Path built, String what) {
    return require(part(built), what);
  }

  /**
   * Returns the absolute path of an existing file.
   *
   * @throws HeddleException with the remedy if the file doesn't exist
   */
  public static Path require(Path file, String what) {
    Path absolute = file.toAbsolutePath().normalize();
    if (!Files.isRegularFile(absolute)) {
      throw new HeddleException(
          what
              + " is missing: "
              + absolute
              + (checkout() == null
                  ? "; this installation is incomplete, or that part needs a checkout"
                  : "; build it with ./heddle build" + packageHint(absolute)));
    }
    return absolute;
  }

  private static String packageHint(Path missing) {
    return OVER_VERBS.stream().anyMatch(missing::endsWith) && !Files.exists(VERBS_HEADER)
        ? ", after apt-get install libibverbs-dev: it needs " + VERBS_HEADER
        : "";
  }
}
