package io.heddle.controller.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.controller.model.FlowId;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerFilesTest {
  private static final String GOOD =
      """
      {"policies": [{"name": "p", "gateway": "g", "age_ms": 200}],
       "lists": [{"policy": "p", "id": 1, "links": ["a"]},
                 {"policy": "p", "id": 2, "links": ["b"], "up": false, "latency_ms": 5, "loss": 0.1}],
       "links": [{"name": "a", "capacity_bps": 1e11, "rate_bps": 6.5e10, "age_ms": 100},
                 {"name": "b", "capacity_bps": 1e11, "rate_bps": 0}],
       "flows": [{"source": "fd00:1::1", "destination": "fd00:2::2", "queue_pair": 17,
                  "policy": "p", "rate_bps": 3.5e10, "list": 1, "list_by_hash": 2}],
       "rules": [{"source": "fd00:1::1", "destination": "fd00:2::2", "queue_pair": 17,
                  "policy": "p", "list": 1}]}
      """;

  @TempDir private Path folder;

  private SnapshotFile read(String text) throws Exception {
    Path file = folder.resolve("snapshot.json");
    Files.writeString(file, text);
    return SnapshotFile.read(file);
  }

  @Test
  void snapshotFileIsParsed() throws Exception {
    SnapshotFile file = read(GOOD);
    FlowId flow = new FlowId("g", "fd00:1::1", "fd00:2::2", 17);
    assertEquals(new SnapshotFile.RuleOf("p", 1), file.ruleFlows().get(flow));
    assertEquals(flow, file.snapshot().flows().getFirst().id());
    assertEquals(2, file.snapshot().flows().getFirst().hashList());
    assertTrue(file.snapshot().lists().getFirst().up());
    assertTrue(!file.snapshot().lists().getLast().up());
    assertEquals(
        200_000_000, file.snapshot().nowNs() - file.snapshot().policies().getFirst().sampledNs());
  }

  @Test
  void snapshotFaultIsReported() {
    for (String[] each :
        new String[][] {
          {"\"id\": 1", "\"ids\": 1", "line 2: Unrecognized field \"ids\""},
          {"\"id\": 1, ", "", "the id of a list is missing"},
          {"\"links\": [\"a\"]", "\"links\": [\"x\"]", "list 1 names link x, which doesn't exist"},
          {"\"name\": \"b\"", "\"name\": \"a\"", "link a is defined twice"},
          {"\"list\": 1, \"list_by", "\"list\": 7, \"list_by", "names segment list p list 7"},
          {"1e11, \"rate_bps\": 0", "0, \"rate_bps\": 0", "link b: capacity 0.0"},
          {"\"rules\"", "\"rules", "line "}
        }) {
      HeddleException fault =
          assertThrows(HeddleException.class, () -> read(GOOD.replace(each[0], each[1])), each[1]);
      assertTrue(fault.getMessage().contains(each[2]), fault.getMessage());
      assertTrue(fault.getMessage().contains("snapshot.json"), fault.getMessage());
    }
    HeddleException absent =
        assertThrows(HeddleException.class, () -> SnapshotFile.read(folder.resolve("none")));
    assertTrue(absent.getMessage().contains("can't be read"), absent.getMessage());
  }

  @Test
  void configurationOverridesDefaults() {
    assertEquals(ControllerConfig.DEFAULT, ControllerConfig.parse("f", "# nothing"));
    ControllerConfig config =
        ControllerConfig.parse("f", "strategy = largest-first\nhigh = 0.7\nhold-down-s = 30");
    assertEquals(Strategy.LARGEST_FIRST, config.strategy());
    assertEquals(0.7, config.settings().high());
    assertEquals(30_000_000_000L, config.settings().holdDownNs());
    assertEquals(SolverSettings.DEFAULT.low(), config.settings().low());
  }

  @Test
  void configurationFaultIsReportedWithItsLine() {
    for (String[] each :
        new String[][] {
          {
            "hihg = 0.7",
            "f line 1: there is no key 'hihg' outside of a section; did you mean high?"
          },
          {"high = 70", "f line 1: high = 70 isn't a share from 0 to 1"},
          {"strategy = best", "isn't min-max, largest-first or smallest-move"},
          {"low = 0.6", "f: low = 0.6 isn't below high = 0.6: rules would come and go"},
          {"samples = 0", "samples = 0 isn't a whole number from 1 to 1000"},
          {"interval-ms = 49", "interval-ms = 49 isn't a whole number from 50 to 3600000"},
          {"[peers a]", "'[peers a]' isn't [gateway name]"}
        }) {
      HeddleException fault =
          assertThrows(HeddleException.class, () -> ControllerConfig.parse("f", each[0]), each[0]);
      assertTrue(fault.getMessage().contains(each[1]), fault.getMessage());
    }
  }
}
