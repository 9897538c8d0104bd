package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runner of the program that controls the fabric of the stand-in for libibverbs: it makes ports,
 * links and verbs fail, and acts as the subnet manager.
 */
final class StandinControl {
  private static final String LID = "lid 0x";

  private StandinControl() {}

  /** Runs the program on the fabric that this process's environment names. */
  static String run(String words) throws IOException, InterruptedException {
    return run(words, Map.of());
  }

  /**
   * Runs the program and returns its output.
   *
   * @param environment environment variables that name the fabric
   */
  static String run(String words, Map<String, String> environment)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.standinControl().toString()));
    command.addAll(List.of(words.split(" ")));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + output);
    return output;
  }

  /**
   * Makes a port a member of a group, so that it receives the group's packets. Returns the group's
   * LID.
   */
  static int join(String port, Gid group) throws IOException, InterruptedException {
    return lidIn(run("join " + port + " " + group));
  }

  /** Returns the LID that the control program printed. */
  static int lidIn(String output) {
    return Integer.parseInt(output.substring(LID.length()).strip(), 16);
  }
}
