package io.heddle.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.solver.Networks;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {
  @TempDir private Path folder;

  @Test
  void everyRoundIsALineWithInputsRefusedMovesAndDecisions() throws Exception {
    Path file = folder.resolve("audit.jsonl");
    Networks net = new Networks(3).flow(1, 35, 1).flow(3, 30, 1).flow(2, 30, 2).flow(4, 30, 3);
    Solver solver = new Solver(SolverSettings.DEFAULT.atOnce(), Strategy.LARGEST_FIRST);
    for (int i = 0; i < 2; i++) {
      /* Reopening the file keeps its content. */
      try (AuditLog audit = new AuditLog(file)) {
        NetworkSnapshot inputs = net.snapshot();
        Round round = net.round(solver);
        audit.append(Instant.EPOCH.plusSeconds(i), inputs, round);
      }
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(2, lines.size());
    JsonNode first = new ObjectMapper().readTree(lines.getFirst());
    assertEquals("1970-01-01T00:00:00Z", first.get("time").asText());
    assertEquals(4, first.get("inputs").get("flows").size());
    assertEquals("MOVED", first.get("verdicts").get(0).get("state").asText());
    assertEquals("queue pair 1 of fd00:2::2", first.get("refused").get(0).get("flow").asText());
    JsonNode choice = first.get("choices").get(0);
    assertEquals("move", choice.get("action").asText());
    assertEquals(3, choice.get("decision").get("flow").get("queue_pair").asInt());
    assertEquals(2, choice.get("decision").get("to").asInt());
    JsonNode second = new ObjectMapper().readTree(lines.getLast());
    assertEquals(0, second.get("choices").size());
  }

  @Test
  void partlyWrittenLineIsTruncated() throws Exception {
    Networks net = new Networks(2).flow(1, 35, 1);
    Round round = net.round(new Solver(SolverSettings.DEFAULT, Strategy.MIN_MAX));
    DiskChannel disk = new DiskChannel();
    try (AuditLog audit = new AuditLog(disk)) {
      audit.append(Instant.EPOCH, net.snapshot(), round);
      disk.fillUpAfter(10);
      assertThrows(IOException.class, () -> audit.append(Instant.EPOCH, net.snapshot(), round));
      disk.makeRoom();
      audit.append(Instant.EPOCH, net.snapshot(), round);
    }
    assertEquals(2, disk.lines().size());
    assertEquals(disk.lines().getFirst(), disk.lines().getLast());
  }
}
