import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;

/**
 * Runs a tool of the build (cmake, ctest, ...) for Maven with HEDDLE_JAVA_HOME set to the JDK that
 * runs this, which is the one that Maven's toolchain chose. Prints one line with the remedy when
 * the tool is missing, and the tool's output only when it fails or {@code --show} comes first.
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
    int status = builder.start().waitFor();
    if (output != null) {
      if (status != 0) {
        System.err.print(Files.readString(output));
      }
      Files.delete(output);
    }
    System.exit(status);
  }

  private static void require(String tool) {
    if (tool.contains("/")) {
      return; /* one of ours, by path */
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
