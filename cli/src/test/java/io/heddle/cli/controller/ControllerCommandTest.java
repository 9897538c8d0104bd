package io.heddle.cli.controller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.daemon.ControlSocket;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ControllerCommandTest {
  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();

  private int run(String... arguments) {
    CommandLine line = new CommandLine(new ControllerCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(out, true));
    return line.execute(arguments);
  }

  private static String flow(int number, int gigabits, int list) {
    return """
    {"source": "fd00:1::1", "destination": "fd00:2::2", "queue_pair": %s, "policy": "to dc2",
     "rate_bps": %se9, "list": %s}\
    """
        .formatted(number, gigabits, list);
  }

  /** Returns the snapshot of the example in section 4.5 of draft-lll-srv6ops-dci-srv6-lb. */
  private String draftExample() throws Exception {
    StringBuilder text =
        new StringBuilder("{\"policies\":[{\"name\":\"to dc2\",\"gateway\":\"g\"}]");
    text.append(",\"lists\":[");
    for (int list = 1; list <= 3; list++) {
      text.append(list > 1 ? "," : "")
          .append("{\"policy\":\"to dc2\",\"id\":%s,\"links\":[\"l%s\"]}".formatted(list, list));
    }
    text.append("],\"links\":[");
    for (int list = 1; list <= 3; list++) {
      text.append(list > 1 ? "," : "")
          .append(
              "{\"name\":\"l%s\",\"capacity_bps\":1e11,\"rate_bps\":%se9}"
                  .formatted(list, list == 1 ? 65 : 30));
    }
    text.append("],\"flows\":[")
        .append(flow(1, 35, 1) + "," + flow(2, 30, 2))
        .append("," + flow(3, 30, 1) + "," + flow(4, 30, 3) + "]}");
    Path file = folder.resolve("draft.json");
    Files.writeString(file, text);
    return file.toString();
  }

  @Test
  void planShowsDecisionsWithReasons() throws Exception {
    assertEquals(0, run("plan", "--file", draftExample()));
    assertEquals(
        """
        policy to dc2: 1 move lowers the busiest list from 65 % to 60 %
          list 1     65 % -> 35 %    ##############..........................
          list 2     30 % -> 60 %    ########################................
          list 3     30 %            ############............................

        move      queue pair 3 of fd00:2::2 (30.0 Gbit/s) goes from list 1 to list 2, so the busiest \
        list falls from 65 % to 60 %
        """,
        out.toString());
  }

  @Test
  void planAsJsonShowsTheSameDecisions() throws Exception {
    Path config = folder.resolve("controller.conf");
    Files.writeString(config, "strategy = largest-first\n");
    assertEquals(0, run("plan", "--file", draftExample(), "--json", "--config", config.toString()));
    JsonNode document = Json.mapper().readTree(out.toString());
    assertEquals("MOVED", document.get("policies").get(0).get("state").asText());
    assertEquals(0.35, document.get("lists").get(0).get("utilisation_after").asDouble(), 1e-9);
    assertEquals(3, document.get("decisions").get(0).get("queue_pair").asInt());
    assertEquals("queue pair 1 of fd00:2::2", document.get("refused").get(0).get("flow").asText());
  }

  @Test
  void emptyPlanIsReported() throws Exception {
    Path config = folder.resolve("controller.conf");
    Files.writeString(config, "high = 0.9\n");
    assertEquals(0, run("plan", "--file", draftExample(), "--config", config.toString()));
    assertTrue(out.toString().contains("nothing to do"), out.toString());
    assertTrue(
        out.toString().contains("the busiest list 1 carries 65 %, less than 90 %"), out.toString());
  }

  @Test
  void checkAcceptsAValidConfiguration() throws Exception {
    Path config = folder.resolve("controller.conf");
    Files.writeString(config, "high = 0.7\n");
    assertEquals(0, run("check", "--config", config.toString()));
    assertTrue(
        out.toString()
            .contains(
                "is valid: strategy min-max, lists are relieved from 70 % on; it names no gateway,"
                    + " so only plan can use it"),
        out.toString());
  }

  @Test
  void fileIsRequired() {
    assertEquals(2, run("plan"));
    assertTrue(out.toString().contains("--file"), out.toString());
  }

  @Test
  void secondControllerIsRefused() throws Exception {
    Path at = folder.resolve("controller.sock");
    Path config = folder.resolve("controller.conf");
    Files.writeString(
        config,
        """
        router-id = 10.0.0.9
        as = 65000
        control = %s
        certificate = none.pem
        key = none.key
        authorities = none.pem
        [gateway gw1]
        address = fd00:c:1::1
        router-id = 10.0.0.1
        """
            .formatted(at));
    try (ControlSocket first =
        ControlSocket.listen(
            ControllerControl.DAEMON, at, question -> "\"answer\"", (level, sentence) -> {})) {
      assertEquals(1, run("run", "--config", config.toString()));
      assertTrue(
          out.toString().contains("a controller runs already and listens at " + at),
          out.toString());
    }
  }
}
