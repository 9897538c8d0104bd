package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/**
 * Tests with missing devices, ports, GIDs and permissions. Each test must end with an error message
 * of one sentence, and leave nothing open.
 */
@EndsWithin(30)
final class BadDevicesTest {
  private final LeakLedger ledger = new LeakLedger();

  private static List<VerbsProvider> providers() {
    List<VerbsProvider> providers = new ArrayList<>();
    ServiceLoader.load(VerbsProvider.class).forEach(providers::add);
    return providers;
  }

  private String failure(
      String options, Map<String, String> environment, List<VerbsProvider> providers) {
    TestDevice.Source source =
        new TestDevice.Source(providers, environment, Log.toStandardError(), ledger);
    Settings.Link wish = TwoEnds.command("write_bw " + options).settings().link();
    HeddleException failed =
        assertThrows(HeddleException.class, () -> TestDevice.open(wish, source).close());
    assertEquals(Map.of(), ledger.open());
    return failed.getMessage();
  }

  private String failure(String options) {
    Map<String, String> environment =
        Map.of("HEDDLE_PROVIDER", "soft", "HEDDLE_PLANES", "127.0.77.1=a,127.0.77.2=b");
    return failure(options, environment, providers());
  }

  /*
   * Returns a provider of a device that can't be opened, as if its device node belonged to another
   * user.
   */
  private static List<VerbsProvider> refusing(int errno) {
    RdmaDevice device =
        new RdmaDevice() {
          @Override
          public String name() {
            return "mlx5_0";
          }

          @Override
          public DeviceContext open() {
            throw new VerbsException("open_device", "mlx5_0", errno);
          }
        };
    return List.of(
        new VerbsProvider() {
          @Override
          public String name() {
            return "libibverbs";
          }

          @Override
          public List<RdmaDevice> devices(
              Map<String, String> environment, Log log, LeakLedger ledger) {
            return List.of(device);
          }
        });
  }

  @Test
  void missingDeviceIsNamedWithExistingOnes() {
    assertEquals(
        "-d sfot0: there is no such device; devices: soft0; did you mean soft0?",
        failure("-d sfot0"));
  }

  @Test
  void missingGidIndexIsNamedWithTable() {
    assertEquals(
        "-x 40000: device soft0 has no GID at that index; it has 0 (127.0.77.1), 1 (127.0.77.2)",
        failure("-x 40000").replaceAll(", 2 .*", ""));
  }

  @Test
  void missingPortIsNamedWithExistingOne() {
    assertEquals("-i 2: device soft0 has no such port; its port is 1", failure("-i 2"));
  }

  @Test
  void missingProviderIsNamedWithExistingOnes() {
    String output = failure("", Map.of("HEDDLE_PROVIDER", "sfot"), providers());
    assertTrue(output.startsWith("HEDDLE_PROVIDER=sfot is none of auto, "), output);
    assertTrue(output.contains("soft"), output);
  }

  @Test
  void withoutDevicesMessageNamesSoftOne() {
    assertEquals(
        "there is no RDMA device: HEDDLE_PROVIDER=soft selects the software device",
        failure("", Map.of(), List.of()));
  }

  @Test
  void unopenableDeviceReportsProvidersReason() {
    for (String options : new String[] {"", "-d mlx5_0"}) {
      assertEquals(
          "open_device on mlx5_0 failed: EACCES (13)",
          failure(options, Map.of(), refusing(Errno.EACCES)));
    }
  }
}
