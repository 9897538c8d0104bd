package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import io.heddle.transport.NetProperties;
import io.heddle.transport.Transport;
import io.heddle.verbs.AsyncEventListener.Kind;
import io.heddle.verbs.DeviceContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests of adapters with several ports and functions, over the stand-in for libibverbs. The
 * process's environment (see this module's pom) has four devices of two ports each, in the order of
 * the table below: two functions of one adapter, a function without the adapter's GUID, and another
 * vendor's.
 */
@EndsWithin(60)
@SystemTest
final class ProviderPortsTest {
  /* Devices in the order of the library, with their PCI functions. */
  private static final Map<String, String> FUNCTIONS =
      Map.of(
          "mlx5_10", "pci0000:00/0000:00:01.0/0000:10:00.0",
          "mlx5_2", "pci0000:09/0000:09:01.0/0000:0a:00.1",
          "mlx5_3", "pci0000:09/0000:09:01.0/0000:0a:00.0",
          "bnxt_re0", "pci10000:00/10000:00:02.0/10000:01:00.0");

  private final LeakLedger ledger = new LeakLedger();

  @BeforeAll
  static void makeSystemFiles() throws IOException {
    BuildOutputs.standin();
    String root = System.getenv("SYSFS_PATH");
    if (root == null || System.getenv("STANDIN_PORTS") == null) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
    for (Map.Entry<String, String> device : FUNCTIONS.entrySet()) {
      Path function = Path.of(root, "devices", device.getValue());
      Path entry = Path.of(root, "class", "infiniband", device.getKey());
      Files.createDirectories(function);
      Files.createDirectories(entry);
      Files.deleteIfExists(entry.resolve("device"));
      Files.createSymbolicLink(entry.resolve("device"), function);
    }
  }

  @AfterEach
  void checkLeaks() {
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  @Test
  void eventOfPortIsReportedByThatPortOnlyAndEventOfDeviceByAll()
      throws IOException, InterruptedException {
    try (DeviceContext first = LibibverbsDevices.open("mlx5_10:1", ledger);
        DeviceContext second = LibibverbsDevices.open("mlx5_10:2", ledger);
        DeviceContext other = LibibverbsDevices.open("mlx5_2:2", ledger)) {
      StandinControl.run("port 0/0:2 down");
      StandinControl.run("port 0/0:2 up");
      StandinControl.run("event 0/0:2 IBV_EVENT_SM_CHANGE");
      StandinControl.run("gid 0/0:1 5 fd5d::5");
      StandinControl.run("gid 0/0:1 5 none");
      StandinControl.run("event 0/0 IBV_EVENT_DEVICE_FATAL");
      assertEquals(
          List.of(Kind.GID_CHANGE, Kind.GID_CHANGE, Kind.DEVICE_FATAL),
          LibibverbsDevices.eventsUntil(first, Kind.DEVICE_FATAL));
      assertEquals(
          List.of(Kind.PORT_ERROR, Kind.PORT_ACTIVE, Kind.SUBNET_CHANGE, Kind.DEVICE_FATAL),
          LibibverbsDevices.eventsUntil(second, Kind.DEVICE_FATAL));
      assertEquals(0, other.pollAsyncEvents((kind, number) -> {}));
    }
  }

  /** Source of a port's speed; without it, the next one serves. */
  private enum SpeedSource {
    QUERY_PORT_SPEED(0),
    PORT_ATTRIBUTES(Errno.EPROTONOSUPPORT);

    private final int refusal;

    SpeedSource(int refusal) {
      this.refusal = refusal;
    }
  }

  @ParameterizedTest
  @EnumSource
  void speedIsThatOfAllLanes(SpeedSource source) throws IOException, InterruptedException {
    List<Long> speeds = new ArrayList<>();
    for (String port : List.of("mlx5_10:1", "mlx5_10:2", "mlx5_2:1", "mlx5_2:2")) {
      try (DeviceContext context = LibibverbsDevices.open(port, ledger)) {
        if (source.refusal != 0) {
          String device = port.startsWith("mlx5_10") ? "0/0" : "0/1";
          StandinControl.run("refuse %s ibv_query_port_speed %s".formatted(device, source.refusal));
        }
        speeds.add(context.port().speedBitsPerSecond() / 1_000_000_000);
      }
    }
    assertEquals(List.of(100L, 800L, 400L, 40L), speeds);
  }

  @Test
  void aggregatedLinkHasTheSpeedThatTheDriverReports() {
    try (DeviceContext context = LibibverbsDevices.open("mlx5_3:1", ledger)) {
      assertEquals(300_000_000_000L, context.port().speedBitsPerSecond());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "mlx5_10:1, mlx5_10:2, true",
    "mlx5_10:1, mlx5_2:1, true",
    "mlx5_10:1, mlx5_3:1, false",
    "mlx5_10:1, bnxt_re0:1, false"
  })
  void functionsOfOneAdapterShareItsGuid(String name, String otherName, boolean same) {
    try (DeviceContext one = LibibverbsDevices.open(name, ledger);
        DeviceContext other = LibibverbsDevices.open(otherName, ledger)) {
      long guid = one.attributes().guid();
      assertTrue(guid != 0 && other.attributes().guid() != 0);
      assertEquals(same, guid == other.attributes().guid());
    }
  }

  @Test
  void devicesAreInOrderOfPciAddressesAndNumberedPortsOfAdapters(@TempDir Path folder) {
    List<String> planes =
        IntStream.rangeClosed(1, 8).mapToObj("127.0.79.%1$d=p%1$d"::formatted).toList();
    Map<String, String> environment =
        Map.of(
            "HEDDLE_PROVIDER",
            "libibverbs",
            "HEDDLE_PLANES",
            String.join(",", planes),
            "HEDDLE_STATS_DIR",
            folder.toString(),
            "NCCL_SOCKET_IFNAME",
            "lo");
    List<NetProperties> properties = new ArrayList<>();
    try (Transport transport = Transport.open(environment, Log.toStandardError())) {
      for (int device = 0; device < transport.deviceCount(); device++) {
        properties.add(transport.properties(device));
      }
    }
    assertEquals(
        List.of(
            "mlx5_3:1 1",
            "mlx5_3:2 2",
            "mlx5_2:1 1",
            "mlx5_2:2 2",
            "mlx5_10:1 3",
            "mlx5_10:2 4",
            "bnxt_re0:1 1",
            "bnxt_re0:2 2"),
        properties.stream().map(each -> each.name() + " " + each.port()).toList());
    assertEquals(
        properties.size(),
        properties.stream().map(each -> each.guid() + " " + each.port()).distinct().count());
  }
}
