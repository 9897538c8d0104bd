package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.transport.Ends;
import io.heddle.transport.Transport;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.VerbsProvider;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceSearchTest {
  private static final Gid PLANE = Ends.gid("127.0.79.1");
  private static final Gid ELSEWHERE = Ends.gid("127.0.79.2");

  @TempDir Path folder;
  private final List<String> log = new ArrayList<>();

  /** Provider that has the name of a real one. */
  private record Named(String name, VerbsProvider devices, String remark) implements VerbsProvider {
    @Override
    public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger ledger) {
      if (!remark.isEmpty()) {
        log.info("%s", remark);
      }
      return devices.devices(environment, log, ledger);
    }
  }

  private static class None implements VerbsProvider {
    @Override
    public String name() {
      return "none";
    }

    @Override
    public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger ledger) {
      return List.of();
    }
  }

  private record Locked() implements RdmaDevice {
    @Override
    public String name() {
      return "locked0";
    }

    @Override
    public DeviceContext open() {
      throw new VerbsException("open_device", "device locked0", Errno.EACCES);
    }
  }

  private static VerbsProvider carrying(Gid... gids) {
    return new LoopbackProvider(new LoopbackFabric(1), List.of(gids));
  }

  private Transport open(String wish, VerbsProvider... providers) {
    return Transport.open(
        Map.of(
            "HEDDLE_PROVIDER",
            wish,
            "HEDDLE_PLANES",
            "127.0.79.1=one",
            "HEDDLE_STATS_DIR",
            folder.toString(),
            "NCCL_SOCKET_IFNAME",
            "lo"),
        (level, sentence) -> log.add(level + " " + sentence),
        () -> new Providers(List.of(providers)));
  }

  private List<String> linesWith(String text) {
    return log.stream().filter(line -> line.contains(text)).toList();
  }

  @Test
  void autoSelectsLibibverbsIfItsDeviceCarriesAPlane() {
    try (Transport transport =
        open(
            "auto",
            new Named("soft", carrying(PLANE), ""),
            new Named("libibverbs", carrying(PLANE), "libibverbs: found it"))) {
      assertTrue(transport.describe().startsWith("provider libibverbs"), transport.describe());
      assertEquals(List.of("INFO libibverbs: found it"), linesWith("libibverbs:"));
      assertEquals(List.of(), linesWith("using the"));
    }
  }

  @Test
  void autoFallsBackToTheSoftDeviceWithOneLine() {
    try (Transport transport =
        open(
            "auto",
            new Named("soft", carrying(PLANE), ""),
            new Named("libibverbs", new None(), "libibverbs: no devices (the list is empty)"))) {
      assertTrue(transport.describe().startsWith("provider soft"), transport.describe());
      assertEquals(
          List.of("INFO using the soft device: libibverbs: no devices (the list is empty)"),
          linesWith("libibverbs"));
    }
  }

  @Test
  void deviceWithoutAPlaneIsSkippedAndItsAddressesReported() {
    try (Transport transport =
        open(
            "auto",
            new Named("soft", carrying(PLANE), ""),
            new Named("libibverbs", carrying(ELSEWHERE), ""))) {
      assertTrue(transport.describe().startsWith("provider soft"), transport.describe());
      List<String> lines = linesWith("carries no plane");
      assertEquals(1, lines.size(), log.toString());
      assertTrue(lines.getFirst().contains("127.0.79.2"), lines.toString());
    }
  }

  /*
   * Opens two devices, each with an address on the plane "both": neither may take the plane from
   * the other, in either order.
   */
  private Transport openTwoOnTheSamePlane(String selection) {
    VerbsProvider two =
        new None() {
          @Override
          public List<RdmaDevice> devices(
              Map<String, String> environment, Log log, LeakLedger ledger) {
            List<RdmaDevice> devices = new ArrayList<>();
            devices.addAll(carrying(PLANE).devices(environment, log, ledger));
            devices.add(
                new Renamed(
                    "other0", carrying(ELSEWHERE).devices(environment, log, ledger).getFirst()));
            return devices;
          }
        };
    return Transport.open(
        Map.of(
            "HEDDLE_PLANES",
            "127.0.79.1=both,127.0.79.2=both",
            "HEDDLE_STATS_DIR",
            folder.toString(),
            "NCCL_SOCKET_IFNAME",
            "lo",
            "NCCL_IB_HCA",
            selection),
        (level, sentence) -> log.add(level + " " + sentence),
        () -> new Providers(List.of(new Named("libibverbs", two, ""))));
  }

  private record Renamed(String name, RdmaDevice device) implements RdmaDevice {
    @Override
    public DeviceContext open() {
      return device.open();
    }
  }

  @Test
  void devicesOnTheSamePlaneEachHaveTheirOwnAddressOnIt() {
    try (Transport transport = openTwoOnTheSamePlane("")) {
      assertEquals(2, transport.deviceCount());
      assertEquals(1, linesWith("plane plane:both: 127.0.79.1").size(), log.toString());
      assertEquals(1, linesWith("plane plane:both: 127.0.79.2").size(), log.toString());
      assertEquals(List.of(), linesWith("already has"));
    }
  }

  @Test
  void selectedDeviceHasThePlaneDespiteALowerAddressElsewhere() {
    try (Transport transport = openTwoOnTheSamePlane("=other0")) {
      assertEquals(1, transport.deviceCount());
      assertEquals(1, linesWith("plane plane:both: 127.0.79.2").size(), log.toString());
    }
  }

  @Test
  void unopenableDeviceIsSkippedWithAWarning() {
    VerbsProvider mixed =
        new None() {
          @Override
          public List<RdmaDevice> devices(
              Map<String, String> environment, Log log, LeakLedger ledger) {
            List<RdmaDevice> devices = new ArrayList<>(List.of(new Locked()));
            devices.addAll(carrying(PLANE).devices(environment, log, ledger));
            return devices;
          }
        };
    try (Transport transport = open("libibverbs", new Named("libibverbs", mixed, ""))) {
      assertEquals(1, transport.deviceCount());
      assertEquals(1, linesWith("WARN device locked0 is not used: open_device").size());
    }
  }

  @Test
  void namedProviderWithoutDevicesFailsWithItsReason() {
    HeddleException failure =
        assertThrows(
            HeddleException.class,
            () ->
                open(
                    "libibverbs",
                    new Named("soft", carrying(PLANE), ""),
                    new Named("libibverbs", new None(), "libibverbs: no devices here")));
    assertTrue(
        failure.getMessage().contains("HEDDLE_PROVIDER=libibverbs): libibverbs: no devices here"),
        failure.getMessage());
  }
}
