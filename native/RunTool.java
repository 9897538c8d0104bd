import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Launcher of a build tool (cmake, ctest, ...) for Maven. It sets HEDDLE_JAVA_HOME to the JDK that
 * it runs on, which Maven's toolchain chose. If the tool is missing, the launcher prints one line
 * with the remedy. It prints the tool's output only if the tool fails or {@code --show} comes
 * first.
 *
 * <p>Usage: {@code java RunTool.java [--show] tool argument...}; {@code @JDK@} in an argument is
 * the JDK's folder.
 */
final class RunTool {
  private static final Map<String, String> PACKAGES =
      Map.of(
          "cmake",
          "cmake",
          "ctest",
          "cmake",
          "cc",
          "gcc",
          "make",
          "make",
          "python3",
          "python3",
          "nm",
          "binutils");

  public static void main(String[] arguments) throws IOException, InterruptedException {
    boolean show = arguments.length > 0 && arguments[0].equals("--show");
    String[] command = show ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    String home = System.getProperty("java.home");
    require(command[0]);
    if (command[0].equals("cmake")) {
      require("cc");
      require("make");
    }
    for (int i = 0; i < command.length; i++) {
      command[i] = command[i].replace("@JDK@", home);
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("HEDDLE_JAVA_HOME", home);
    Path output = null;
    if (show) {
      builder.inheritIO();
    } else {
      output = Files.createTempFile("heddle-build", ".log");
      builder.redirectErrorStream(true).redirectOutput(output.toFile());
    }
    deleteForeignCache(command);
    int status = builder.start().waitFor();
    if (output != null) {
      if (status != 0) {
        System.err.print(Files.readString(output));
      }
      Files.delete(output);
    }
    System.exit(status);
  }

  /*
   * Deletes CMake's cache if the cache names another folder, since CMake refuses to continue in a
   * copied or moved checkout. {@code cmake --fresh} does the same, but not every version has this
   * option.
   */
  private static void deleteForeignCache(String[] command) throws IOException {
    int source = Arrays.asList(command).indexOf("-S");
    int build = Arrays.asList(command).indexOf("-B");
    if (!command[0].equals("cmake") || source < 0 || build < 0) {
      return;
    }
    Path folder = Path.of(command[build + 1]);
    Path cache = folder.resolve("CMakeCache.txt");
    if (Files.exists(cache)
        && !(isNamed(cache, "CMAKE_HOME_DIRECTORY", Path.of(command[source + 1]))
            && isNamed(cache, "CMAKE_CACHEFILE_DIR", folder))) {
      Files.delete(cache);
      remove(folder.resolve("CMakeFiles"));
    }
  }

  private static boolean isNamed(Path cache, String entry, Path expected) throws IOException {
    for (String line : Files.readAllLines(cache)) {
      if (line.startsWith(entry + ":")) {
        Path named = Path.of(line.substring(line.indexOf('=') + 1));
        return Files.exists(named) && Files.isSameFile(named, expected);
      }
    }
    return false;
  }

  private static void remove(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static void require(String tool) {
    if (tool.contains("/")) {
      return; /* the path of a tool that this build has made */
    }
    for (String folder :
        System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(File.pathSeparator)) {
      if (Files.isExecutable(Path.of(folder, tool))) {
        return;
      }
    }
    System.err.printf(
        "%s is missing: on Debian or Ubuntu, apt-get install %s%n",
        tool, PACKAGES.getOrDefault(tool, tool));
    System.exit(1);
  }
}
