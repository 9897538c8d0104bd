package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * Runner of programs in their own network namespace. It uses a user namespace, so root isn't
 * needed.
 */
final class NamespaceRun {
  private NamespaceRun() {}

  /* The program gets a mount namespace too, so that /sys can show the new network namespace. */
  private static List<String> inNamespace(String script, String... command) {
    List<String> whole =
        new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "--net", "--mount"));
    whole.addAll(List.of("sh", "-ec", "mount -t sysfs none /sys\n" + script, "sh"));
    whole.addAll(List.of(command));
    return whole;
  }

  private static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(Deadline.ofSeconds(30).awaitExit(process));
    return process.exitValue() == 0 ? output : "exit code " + process.exitValue() + ": " + output;
  }

  /** Skips the test, with a reason, if no user and network namespace can be created. */
  static void assumeNamespaces() throws IOException, InterruptedException {
    String refusal;
    try {
      refusal = run(inNamespace("exec \"$@\"", "ip", "link", "add", "e0", "type", "veth"));
    } catch (IOException noUnshare) {
      refusal = noUnshare.getMessage();
    }
    if (!refusal.isEmpty()) {
      System.out.println(
          "skipped: no network namespace with veth can be made here: " + refusal.strip());
      Assumptions.abort(refusal);
    }
  }

  /**
   * Runs a Java program in a namespace, and returns its output.
   *
   * @param script shell commands that prepare the namespace and end with {@code exec "$@"}, which
   *     starts the program
   * @param mainClass class of the tests that has the program's main method
   */
  static String java(String script, Class<?> mainClass, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                mainClass.getName()));
    command.addAll(List.of(arguments));
    return run(inNamespace(script, command.toArray(String[]::new)));
  }
}
