package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressFilter;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Option;
import io.heddle.platform.Options;
import io.heddle.transport.options.HcaSelection;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the effects of NCCL_IB_* variables on a transport, and of their log lines. */
class InfinibandOptionsTest {
  private static final List<Integer> FOUR = List.of(1, 2, 3, 4);

  @TempDir Path folder = Path.of("");

  private Ends open(Map<String, String> environment) {
    return new Ends(new LoopbackFabric(1), folder, FOUR, FOUR, environment);
  }

  private static List<String> lines(Ends ends, String part) {
    return ends.log.stream().filter(line -> line.contains(part)).toList();
  }

  @Test
  void everySetVariableIsLoggedInOneLinePerEnd() {
    try (Ends ends =
        open(
            Map.of(
                "NCCL_IB_TC", "96",
                "NCCL_IB_HCA", "^mlx5",
                "NCCL_IB_GID_INDEX", "-1",
                "NCCL_IB_PKEY", "1",
                "NCCL_IB_TIMEOT", "20"))) {
      assertEquals(
          List.of(
              "INFO NCCL_IB_HCA=^mlx5: honoured: which devices to use; all that carry a plane"
                  + " without it"),
          lines(ends, "NCCL_IB_HCA").stream().distinct().toList());
      assertEquals(2, lines(ends, "NCCL_IB_TC=96: honoured: ").size());
      assertEquals(2, lines(ends, "NCCL_IB_GID_INDEX=-1: mapped: ").size());
      assertEquals(2, lines(ends, "NCCL_IB_PKEY=1: ignored: RoCE has one").size());
      assertEquals(
          2, lines(ends, "NCCL_IB_TIMEOT is not a setting; did you mean NCCL_IB_TIMEOUT?").size());
    }
  }

  @Test
  void noVariableIsBothReadAndIgnored() {
    for (Option<?> option : TransportOptions.ALL) {
      assertTrue(!TransportOptions.IGNORED.containsKey(option.name()), option.name());
    }
  }

  @Test
  void rangeKeepsOnlyThePlanesWithinIt() {
    try (Ends ends = open(Map.of("NCCL_IB_ADDR_RANGE", "127.0.77.2/31,127.0.78.0/24"))) {
      assertTrue(ends.left.describe().contains("planes [plane:2, plane:3]"), ends.left.describe());
      assertTrue(ends.right.describe().contains("plane:4"), ends.right.describe());
      assertEquals(
          1,
          lines(ends, "127.0.77.4/8 on lo isn't used: NCCL_IB_ADDR_RANGE=").size(),
          ends.log.toString());
    }
  }

  @Test
  void gidIndexKeepsOnePlane() {
    try (Ends ends = open(Map.of("NCCL_IB_GID_INDEX", "2"))) {
      assertTrue(ends.left.describe().contains("planes [plane:3]"), ends.left.describe());
      assertEquals(
          1,
          lines(ends, "left out by NCCL_IB_GID_INDEX=2: its address 127.0.77.1 has index 0")
              .size());
      ends.connect().close();
    }
  }

  @Test
  void smallerNumberOfQueuePairsAppliesAndIsLogged() {
    try (Ends ends =
            new Ends(
                new LoopbackFabric(1),
                folder,
                FOUR,
                FOUR,
                Map.of("NCCL_IB_QPS_PER_CONNECTION", "5"),
                Map.of("NCCL_IB_QPS_PER_CONNECTION", "2"));
        Ends.Link link = ends.connect()) {
      assertEquals(
          1,
          lines(ends, "has 2 queue pairs on each plane: here 5 are requested, there 2").size(),
          ends.log.toString());
      assertTrue(ends.left.describe().contains("5 queue pairs a plane"), ends.left.describe());
      ends.exchange(link, 100_000, 100_000, 1);
    }
  }

  @ParameterizedTest
  @CsvSource({"110, 0", "22, 1"})
  void queuePairThatFailsToConnectIsRetried(int errno, String any) {
    LoopbackFabric fabric = new LoopbackFabric(1);
    Map<String, String> more =
        Map.of("NCCL_IB_MQP_RETRY_SLEEP_MSEC", "10", "NCCL_IB_MQP_RETRY_ALL", any);
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, more)) {
      fabric.refuseConnects(5, errno);
      try (Ends.Link link = ends.connect()) {
        ends.exchange(link, 100_000, 100_000, 1);
      }
      assertTrue(
          lines(ends, "to RTR").getFirst().contains("trying up to 34 times more, after 10 ms each"),
          ends.log.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({"110, 2", "22, 34"})
  void finalRefusalOfTheDeviceFailsTheConnection(int errno, String retries) {
    LoopbackFabric fabric = new LoopbackFabric(1);
    Map<String, String> more =
        Map.of("NCCL_IB_MQP_RETRY_SLEEP_MSEC", "1", "NCCL_IB_MQP_RETRY_CNT", retries);
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, more)) {
      fabric.refuseConnects(1_000, errno);
      HeddleException failure = assertThrows(HeddleException.class, ends::connect);
      assertTrue(String.valueOf(failure.getMessage()).contains("to RTR"), failure.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({"0, false", "1, true"})
  void clearToSendEntriesAreInlineIfConfigured(String asked, boolean inline) {
    LoopbackFabric fabric = new LoopbackFabric(1);
    Map<String, String> more = Map.of("NCCL_IB_USE_INLINE", asked);
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, more);
        Ends.Link link = ends.connect()) {
      ends.exchange(link, 100_000, 100_000, 1);
    }
    assertEquals(inline, fabric.inlinePayloads() > 0);
  }

  @Test
  void railIsReportedToNccl() {
    try (Ends ends = open(Map.of("NCCL_IB_HCA", "=loopback0:1:3"))) {
      assertEquals(3, ends.left.properties(0).railId());
      assertEquals(-1, ends.left.properties(0).planeId());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          NCCL_IB_HCA              | mlx5     | NCCL_IB_HCA=mlx5 selects none of the devices loopback0; did you mean loopback0?
          NCCL_IB_ADDR_FAMILY      | AF_INET6 | 127.0.77.1/8 on lo isn't used: NCCL_IB_ADDR_FAMILY=AF_INET6 leaves it out
          NCCL_IB_ADDR_RANGE       | fd00::/8 | isn't used: NCCL_IB_ADDR_RANGE=fd00::/8 doesn't include it
          """)
  void unsupportedValuesRefuseTheStartWithAReason(String name, String value, String message) {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> open(Map.of(name, value)).close());
    assertTrue(String.valueOf(refused.getMessage()).contains(message), refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          NCCL_IB_GID_INDEX          | 9     | NCCL_IB_GID_INDEX=9 matches no plane of device loopback0, whose planes have
          NCCL_IB_ROCE_VERSION_NUM   | 1     | NCCL_IB_ROCE_VERSION_NUM=1 is taken as 2: allowed is only 2
          NCCL_IB_QPS_PER_CONNECTION | 128   | NCCL_IB_QPS_PER_CONNECTION=128 is taken as 8: allowed is a whole number from 1 to 8
          NCCL_IB_FIFO_TC            | 256   | NCCL_IB_FIFO_TC=256 is taken as -1: allowed is a whole number from -1 to 255
          NCCL_IB_TIMEOUT            | 22ms  | NCCL_IB_TIMEOUT=22ms is taken as 22: allowed is a whole number from 1 to 31
          NCCL_IB_DEVICE_PCI_ORDER   | yes   | NCCL_IB_DEVICE_PCI_ORDER=yes is taken as 0: allowed is a whole number from 0 to 1
          NCCL_IB_ADDR_FAMILY        | ipv6  | NCCL_IB_ADDR_FAMILY=ipv6 is not understood and counts as not set
          NCCL_IB_ADDR_RANGE         | 10/x  | NCCL_IB_ADDR_RANGE=10/x: part "10/x" is not understood and is left out
          NCCL_IB_HCA                | a:b   | NCCL_IB_HCA=a:b: part "a:b" is not understood and is left out
          """)
  void unsupportedValuesOfNcclAreReplacedWithAWarning(String name, String value, String warning) {
    try (Ends ends = open(Map.of(name, value))) {
      assertEquals(2, lines(ends, "WARN " + warning).size(), ends.log.toString());
      assertTrue(
          ends.left.describe().contains("planes [plane:1, plane:2, plane:3, plane:4]"),
          ends.left.describe());
      ends.connect().close();
    }
  }

  @ParameterizedTest
  @CsvSource({"0x16, 22", "026, 22", "' +22 ', 22", "0X1f, 31"})
  void numbersAreParsedAsNcclDoes(String text, long value) {
    Options options =
        Options.parse(Map.of("NCCL_IB_TIMEOUT", text), TransportOptions.ALL, Map.of());
    assertEquals(value, options.get(InfinibandOptions.TIMEOUT));
    assertEquals(List.of(), options.warnings());
  }

  /* NCCL's parser accepts any text for its numbers, so none may prevent a job's start. */
  @Test
  void noValueOfAnNcclVariablePreventsTheStart() {
    Random random = new Random(47);
    List<String> texts =
        new ArrayList<>(
            List.of(
                "",
                " ",
                "-",
                "0x",
                "08",
                "1e9",
                "-1",
                "0",
                "1",
                "2",
                "3",
                "15",
                "16",
                "20",
                "128",
                "255",
                "256",
                "65536",
                "2147483648",
                "-9223372036854775808",
                "9223372036854775808",
                "0xffffffffffffffff",
                "true",
                "\u0663",
                ",",
                "^",
                "=",
                ":"));
    String letters = "0123456789abcdefxX-+ ,:=^/._[]\t";
    for (int i = 0; i < 2_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(24); length > 0; length--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      texts.add(text.toString());
    }
    for (Option<?> option : TransportOptions.ALL) {
      if (option.name().startsWith("NCCL_")) {
        for (String text : texts) {
          Options.parse(Map.of(option.name(), text), TransportOptions.ALL, Map.of());
        }
      }
    }
    for (String text : texts) {
      HcaSelection.parse(text);
      AddressFilter.parse(text, text);
    }
  }

  @Test
  void anyNumberInAllNcclOptionsIsAccepted() {
    for (String text : List.of("-2", "0", "1", "7", "20", "128", "99999999999")) {
      Map<String, String> all = new HashMap<>();
      for (Option<?> option : TransportOptions.ALL) {
        if (option.name().startsWith("NCCL_") && !option.defaultText().isEmpty()) {
          all.put(option.name(), text);
        }
      }
      try (Ends ends = open(all)) {
        ends.left.describe();
      }
    }
  }
}
