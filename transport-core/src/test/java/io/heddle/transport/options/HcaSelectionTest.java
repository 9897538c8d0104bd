package io.heddle.transport.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that NCCL_IB_HCA is parsed as NCCL does. */
class HcaSelectionTest {
  private record Port(String device, int number) {}

  private static final List<Port> PORTS =
      List.of(
          new Port("mlx5_1", 1),
          new Port("mlx5_10", 1),
          new Port("mlx5_2:1", 1),
          new Port("mlx5_2:2", 2),
          new Port("soft0", 1));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                | mlx5_1 mlx5_10 mlx5_2:1 mlx5_2:2 soft0
          mlx5              | mlx5_1 mlx5_10 mlx5_2:1 mlx5_2:2
          mlx5_1            | mlx5_1 mlx5_10
          =mlx5_1           | mlx5_1
          =mlx5_1,soft0     | mlx5_1 soft0
          mlx5_2:2          | mlx5_2:2
          mlx5:1            | mlx5_1 mlx5_10 mlx5_2:1
          =mlx5_2:2:3       | mlx5_2:2
          =mlx5_2:2:3:1     | mlx5_2:2
          ^mlx5_1           | mlx5_2:1 mlx5_2:2 soft0
          ^=mlx5_1          | mlx5_10 mlx5_2:1 mlx5_2:2 soft0
          ^mlx5:2           | mlx5_1 mlx5_10 mlx5_2:1 soft0
          ' mlx5_2 , soft ' | mlx5_2:1 mlx5_2:2 soft0
          bnxt              | ''
          """)
  void takesTheDevicesThatItNames(String value, String taken) {
    HcaSelection selection = HcaSelection.parse(value);
    Stream<Port> ports =
        PORTS.stream().filter(port -> selection.includes(port.device(), port.number()));
    assertEquals(taken, String.join(" ", ports.map(Port::device).toList()));
  }

  @Test
  void aThirdFieldIsTheRail() {
    HcaSelection selection = HcaSelection.parse("mlx5_1:1:4,mlx5_2:2:0,soft0");
    assertEquals(4, selection.rail("mlx5_1", 1));
    assertEquals(-1, selection.rail("mlx5_2:1", 1));
    assertEquals(0, selection.rail("mlx5_2:2", 2));
    assertEquals(-1, selection.rail("soft0", 1));
  }

  @Test
  void emptySelectionIsReportedWithTheNearestName() {
    String message = HcaSelection.parse("=sotf0").noneOf(List.of("mlx5_0", "soft0"));
    assertEquals(
        "NCCL_IB_HCA==sotf0 selects none of the devices mlx5_0, soft0; did you mean soft0?",
        message);
  }

  @ParameterizedTest
  @CsvSource({"':1'", "'mlx5_0:0'", "'mlx5_0:x'", "'mlx5_0:1:-2'", "'a:1:1:1:1'"})
  void malformedPartsAreIgnoredAndReportedWithTheAllowedForm(String part) {
    HcaSelection selection = HcaSelection.parse("soft0," + part);
    assertTrue(selection.includes("soft0", 1) && !selection.includes("mlx5_1", 1));
    String remark = selection.remarks().getFirst();
    assertTrue(remark.startsWith("NCCL_IB_HCA=soft0," + part + ": part "), remark);
    assertTrue(remark.contains("allowed are names such as mlx5"), remark);
  }

  @ParameterizedTest
  @CsvSource({"'^'", "'='", "','", "'mlx5_0:x'"})
  void emptySelectionTakesEveryDevice(String value) {
    assertTrue(HcaSelection.parse(value).includes("soft0", 1));
  }

  @Test
  void emptyPartsAreIgnored() {
    HcaSelection selection = HcaSelection.parse("mlx5_1,,soft0,");
    assertEquals(2, selection.entries().size());
    assertEquals(List.of(), selection.remarks());
  }
}
