package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of tests that run {@code heddle doctor} on the first of two hosts. The hosts have their own
 * network namespaces and three planes.
 */
abstract class OnTwoHosts {
  static final int PLANES = 3;

  @TempDir Path folder;

  private Lab lab;

  @BeforeEach
  void makeHosts() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
    Files.createDirectories(folder.resolve("stats"));
  }

  @AfterEach
  void removeHosts() {
    if (lab != null) {
      lab.close();
    }
  }

  List<String> doctor(String... arguments) {
    List<String> command = new ArrayList<>(DoctorProgram.start());
    command.addAll(List.of("doctor", "--stats", folder.resolve("stats").toString()));
    command.addAll(List.of(arguments));
    return command;
  }

  Process start(int host, Map<String, String> environment, List<String> command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(lab.command(host, command));
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("NCCL_") || name.startsWith("HEDDLE_"));
    builder.environment().put("HEDDLE_ROUTES", folder.resolve("routes").toString());
    builder.environment().putAll(environment);
    return builder.redirectError(folder.resolve("errors").toFile()).start();
  }

  JsonNode examine(Map<String, String> environment, List<String> command) throws Exception {
    Process process = start(0, environment, command);
    String document = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = process.waitFor();
    JsonNode parsed = new ObjectMapper().readTree(document);
    assertTrue(
        exitCode <= 2 && parsed.has("findings"),
        document + Files.readString(folder.resolve("errors")));
    return parsed.path("findings");
  }

  JsonNode examine(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--json"));
    all.addAll(List.of(arguments));
    return examine(Map.of(), doctor(all.toArray(new String[0])));
  }

  String ip(int host, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    Process process =
        new ProcessBuilder(lab.command(host, command)).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + said);
    return said;
  }

  static void expect(JsonNode findings, String level, String cause, String evidence) {
    for (JsonNode finding : findings) {
      if (finding.path("cause").asText().equals(cause)
          && finding.path("evidence").asText().contains(evidence)) {
        assertEquals(level, finding.path("level").asText(), finding.toString());
        assertTrue(!finding.path("remedy").asText().isBlank(), finding.toString());
        return;
      }
    }
    throw new AssertionError(
        cause + " with \"" + evidence + "\" isn't in " + findings.toPrettyString());
  }

  static void expectNot(JsonNode findings, String cause) {
    for (JsonNode finding : findings) {
      assertTrue(!finding.path("cause").asText().equals(cause), finding.toString());
    }
  }

  String errors() {
    try {
      return Files.readString(folder.resolve("errors"));
    } catch (java.io.IOException unreadable) {
      return unreadable.toString();
    }
  }
}
