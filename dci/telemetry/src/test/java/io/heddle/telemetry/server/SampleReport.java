package io.heddle.telemetry.server;

import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.util.List;

/** Report of a gateway in which nearly every field is set. */
final class SampleReport {
  static final ElephantReport ELEPHANT =
      new ElephantReport(
          "fc00:2::2",
          17,
          "fc00:1::1",
          50_000,
          "direct",
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
          "2026-11-26T00:00:01Z");
  static final GatewayReport WHOLE =
      new GatewayReport(
          1_700_000_000_000_000_000L,
          List.of(
              new ListReport(
                  1,
                  "sl1",
                  "direct",
                  true,
                  null,
                  1,
                  List.of("5f00:0:1::1"),
                  "w1",
                  5,
                  6,
                  7,
                  0.25,
                  11.5)),
          List.of(ELEPHANT),
          List.of(
              new RuleReport("fc00:2::2", 17, null, 2, true, null, "controller 10.0.0.9", true)),
          List.of(new InterfaceReport("w1", 99, true), new InterfaceReport("w2", 7, false)));

  private SampleReport() {}
}
