package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Acts on the stand-in's fabric like cables, switches and operators. */
final class StandinControl {
  private static final String LID = "lid 0x";

  private StandinControl() {}

  /** Runs it on the fabric of this process's environment. */
  static String run(String words) throws IOException, InterruptedException {
    return run(words, Map.of());
  }

  /**
   * Runs it and returns its output.
   *
   * @param environment that names the fabric
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

  /** Joins a port to a group, to receive. Returns the group's LID. */
  static int join(String port, Gid group) throws IOException, InterruptedException {
    return lidIn(run("join " + port + " " + group));
  }

  /** Returns the LID in the control program's output. */
  static int lidIn(String output) {
    return Integer.parseInt(output.substring(LID.length()).strip(), 16);
  }
}
