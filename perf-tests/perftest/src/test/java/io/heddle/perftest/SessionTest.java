package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs of perftest's tests, from handshake to report, between two Heddle ends. */
@EndsWithin(120)
final class SessionTest {
  private static void assertBothSucceed(TwoEnds.Both both) {
    assertNull(both.server().failure(), () -> both.server().out());
    assertNull(both.client().failure(), () -> both.client().out());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -n 300",
        "write_bw -n 300 -q 4 -s 8192",
        "write_bw -n 2000 -s 8 -Q 7",
        "write_bw -n 400 -s 64 -l 8",
        "write_bw -n 300 -b",
        "write_bw -n 300 -m 1024 --report_gbits -N",
        "send_bw -n 1500",
        "send_bw -n 1000 -q 3 -s 200 -r 16",
        "send_bw -n 1000 -b -s 4096",
        "read_bw -n 300",
        "read_bw -n 100 -q 4 -b",
      })
  void bothEndsReportTheSameBandwidthRow(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test);
    assertBothSucceed(both);
    Settings.Traffic traffic = TwoEnds.command(test).settings().traffic();
    String[] row = both.client().row(traffic.sizeBytes());
    assertEquals(traffic.iterations() * traffic.queuePairs(), Long.parseLong(row[1]));
    assertTrue(Double.parseDouble(row[3]) > 0, "average in " + String.join(" ", row));
    if (test.contains(" -N")) {
      assertEquals(0, Double.parseDouble(row[2]), "the peak was omitted");
    } else {
      assertTrue(Double.parseDouble(row[2]) >= Double.parseDouble(row[3]), "peak below average");
    }
    String[] server = both.server().row(traffic.sizeBytes());
    assertEquals(row[1], server[1]);
    if (!test.startsWith("send_bw")) {
      assertEquals(String.join(" ", row), String.join(" ", server));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write_lat -n 600", "send_lat -n 600", "write_lat -n 100 -s 70000"})
  void bothEndsMeasureHalfARoundTrip(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test);
    assertBothSucceed(both);
    Settings.Traffic traffic = TwoEnds.command(test).settings().traffic();
    for (TwoEnds.Output end : new TwoEnds.Output[] {both.server(), both.client()}) {
      String[] row = end.row(traffic.sizeBytes());
      assertEquals(traffic.iterations(), Long.parseLong(row[1]));
      double least = Double.parseDouble(row[2]);
      double typical = Double.parseDouble(row[4]);
      double most = Double.parseDouble(row[3]);
      assertTrue(0 < least && least <= typical && typical <= most, String.join(" ", row));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -D 1 -f 0",
        "send_bw -D 1 -f 0 -s 1024",
        "write_bw -D 1 -f 0 -s 16 -Q 50",
        "write_lat -D 1 -f 0",
        "send_lat -D 1 -f 0"
      })
  void testByTimeCountsItsMessages(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test);
    assertBothSucceed(both);
    String[] row = both.client().row(TwoEnds.command(test).settings().traffic().sizeBytes());
    assertTrue(Long.parseLong(row[1]) > 10, String.join(" ", row));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"write_bw -a -n 5", "send_bw -a -n 5", "write_lat -a -n 8", "send_lat -a -n 8"})
  void eachSizeHasRow(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test);
    assertBothSucceed(both);
    for (long size = 2; size <= 1 << 23; size *= 2) {
      String[] row = both.client().row(size);
      assertTrue(Double.parseDouble(row[4]) > 0, String.join(" ", row));
    }
  }

  @Test
  void differingOptionsAreNamedAtBothEnds() throws Exception {
    TwoEnds.Both both = new TwoEnds().run("write_bw -n 10 -q 2", "write_bw -n 10", 1);
    String sentence =
        "the ends are incompatible: -q is 2 at the server and 1 at the client; use the same";
    assertEquals(sentence, String.valueOf(both.server().failure().getMessage()));
    assertEquals(sentence, String.valueOf(both.client().failure().getMessage()));
    both = new TwoEnds().run("send_bw -n 10", "write_bw -n 10", 1);
    assertTrue(
        both.client().failure().getMessage().contains("test is send_bw at the server"),
        both.client().failure().getMessage());
  }

  @Test
  void queuePairsUseCommonPlanes() throws Exception {
    TwoEnds.Both both =
        new TwoEnds().run("write_bw -n 200 -q 2", "write_bw -n 200 -q 2 --planes 3", 4);
    assertBothSucceed(both);
    String[] row = both.client().row(65_536);
    assertEquals(200 * 2 * 3, Long.parseLong(row[1]));
    for (String plane : new String[] {"plane:a", "plane:b", "plane:c"}) {
      String line =
          both.client()
              .out()
              .lines()
              .filter(each -> each.contains(plane))
              .findFirst()
              .orElseThrow();
      assertTrue(line.strip().split("\\s+")[2].equals("400"), line);
    }
    assertTrue(both.client().out().lines().noneMatch(line -> line.contains("plane:d")));
  }

  @Test
  void unknownPlaneIsNamedWithExistingOnes() throws Exception {
    TwoEnds.Both both =
        new TwoEnds().run("write_bw -n 10 --planes plane:z", "write_bw -n 10 --planes plane:z", 2);
    assertTrue(
        both.server()
            .failure()
            .getMessage()
            .contains("device soft0 has no such plane; it has plane:a, plane:b"),
        both.server().failure().getMessage());
  }

  @Test
  void reportIsAlsoWrittenAsJson(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("report.json");
    TwoEnds.Both both =
        new TwoEnds()
            .run(
                "write_bw -n 50 -s 4096",
                "write_bw -n 50 -s 4096 --planes all --out_json --out_json_file " + file,
                2);
    assertBothSucceed(both);
    JsonNode document = new ObjectMapper().readTree(Files.readString(file));
    assertEquals("RDMA_Write_BW_Test", document.at("/test_info/test").asText());
    assertEquals(2, document.at("/test_info/Number_of_qps").asInt());
    assertEquals(100, document.at("/results/n_iterations").asInt());
    assertEquals(2, document.at("/results/planes").size());
    assertEquals(50 * 4096, document.at("/results/planes/1/bytes").asInt());
    assertTrue(document.at("/results/completion_usec/p99.0").asDouble() > 0, document.toString());
  }

  @Test
  void printsOneNumberOnRequest() throws Exception {
    TwoEnds.Both both = new TwoEnds().run("write_bw -n 50", "write_bw -n 50 --output bandwidth", 1);
    assertBothSucceed(both);
    assertTrue(Double.parseDouble(both.client().out().strip()) > 0, both.client().out());
  }

  @Test
  void rateBelowLimitFails() throws Exception {
    TwoEnds.Both both = new TwoEnds().run("write_bw -n 50", "write_bw -n 50 -w 1000000000", 1);
    assertNull(both.server().failure());
    assertTrue(both.client().failure().getMessage().contains("below the limit"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -n 100 -s 1000000 --policy spray --weights 4,2,1,1",
        "write_bw -n 100 -s 1000000 --policy pinned --weights plane:a=4,plane:b=2",
        "read_bw -n 20 -s 500000 --weights 4,2,1,1",
        "write_bw -n 60 -s 1000000 --policy spray --weights 4,2,1,1 -q 3"
      })
  void policyFollowsWeights(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test.replaceFirst(" --.*?(?= -q|$)", ""), test, 4);
    assertBothSucceed(both);
    Settings.Traffic traffic = TwoEnds.command(test).settings().traffic();
    String[] row = both.client().row(traffic.sizeBytes());
    assertEquals(traffic.iterations() * traffic.queuePairs() * 4, Long.parseLong(row[1]));
    double[] expected = {50, 25, 12.5, 12.5};
    for (int plane = 0; plane < expected.length; plane++) {
      String key = "plane:" + (char) ('a' + plane);
      String line =
          both.client().out().lines().filter(each -> each.contains(key)).findFirst().orElseThrow();
      assertEquals(expected[plane], Double.parseDouble(line.strip().split("\\s+")[3]), 6, line);
    }
  }

  @Test
  void mismatchedWeightsAreNamed() throws Exception {
    TwoEnds.Both both =
        new TwoEnds().run("write_bw -n 10", "write_bw -n 10 --weights 1,2 --planes 3", 3);
    assertTrue(
        both.client()
            .failure()
            .getMessage()
            .contains("--weights 1,2 has 2 weights, but there are 3 planes"),
        both.client().failure().getMessage());
    assertTrue(both.server().failure().getMessage().contains("disconnected"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"write_lat -n 100", "send_lat -n 100 -s 64"})
  void latencyIsMeasuredPerPlane(String test) throws Exception {
    TwoEnds.Both both = new TwoEnds().run(test, test + " --planes all --percentiles", 3);
    assertBothSucceed(both);
    Settings.Traffic traffic = TwoEnds.command(test).settings().traffic();
    assertEquals("300", both.client().row(traffic.sizeBytes())[1]);
    for (String key : new String[] {"plane:a", "plane:b", "plane:c"}) {
      assertTrue(both.client().out().contains(key), both.client().out());
    }
    assertTrue(both.client().out().contains("99.9% "), both.client().out());
  }
}
