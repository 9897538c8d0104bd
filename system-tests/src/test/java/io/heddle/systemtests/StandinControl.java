package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Does to the stand-in's fabric what cables, switches and operators do. */
final class StandinControl {
  private static final String LID = "lid 0x";

  private StandinControl() {}

  /** On the fabric of this process's environment. */
  static String run(String words) throws IOException, InterruptedException {
    return run(words, Map.of());
  }

  /**
   * What it has said.
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
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + said);
    return said;
  }

  /** Has a port join a group, to receive; the group's LID. */
  static int join(String port, Gid group) throws IOException, InterruptedException {
    return lidIn(run("join " + port + " " + group));
  }

  /** Which the control program has said. */
  static int lidIn(String said) {
    return Integer.parseInt(said.substring(LID.length()).strip(), 16);
  }
}
