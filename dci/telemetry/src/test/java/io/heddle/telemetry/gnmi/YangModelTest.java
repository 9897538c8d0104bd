package io.heddle.telemetry.gnmi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of reports against the YANG module, by yanglint. */
final class YangModelTest {
  private static final Path MODULE = Path.of("src/main/yang/heddle-dci.yang").toAbsolutePath();

  @TempDir private Path folder;

  private String yanglint(String json) throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/yanglint"))) {
      System.out.println("skipped: yanglint isn't installed");
      Assumptions.abort("yanglint isn't installed");
    }
    Path data = Files.writeString(folder.resolve("data.json"), json);
    Process process =
        new ProcessBuilder("yanglint", "--type", "get", MODULE.toString(), data.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said.strip();
  }

  private static String document(ObjectNode elephant) throws Exception {
    ObjectNode rule =
        YangJson.MAPPER.valueToTree(
            new RuleReport("fc00:2::2", 17, null, 2, false, "the list is dead", "operator", true));
    rule.put("source", "any"); // the key is in the path, not in the value
    ListReport list =
        new ListReport(
            1, "sl1", "wan", true, null, 1, List.of("5f00:0:1::1"), "w1", 5, 6, 7, 0.25, 11.5);
    return "{\"heddle-dci:gateway\":{\"lists\":{\"list\":["
        + YangJson.MAPPER.writeValueAsString(list)
        + "]},\"elephants\":{\"elephant\":["
        + elephant
        + "]},\"rules\":{\"rule\":["
        + rule
        + "]}}}";
  }

  private static ObjectNode elephant() {
    return YangJson.MAPPER.valueToTree(
        new ElephantReport(
            "fc00:2::2",
            17,
            "fc00:1::1",
            50_000,
            "wan",
            100,
            null,
            1L << 60,
            12,
            300_000_000,
            1,
            2,
            null,
            0xabcde,
            "5f00:0:1::1",
            "2026-11-26T00:00:00Z",
            "2026-11-26T00:00:01Z"));
  }

  @Test
  void reportsMatchTheYangModel() throws Exception {
    assertEquals("", yanglint(document(elephant())));
  }

  @Test
  void invalidReportIsDetected() throws Exception {
    ObjectNode wrong = elephant();
    wrong.put("queue-pair", 1 << 24);
    assertFalse(yanglint(document(wrong)).isEmpty());
  }
}
