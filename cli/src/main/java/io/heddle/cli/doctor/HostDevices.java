package io.heddle.cli.doctor;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Verbs devices of this host. Reading opens each once and closes it again.
 *
 * @param devices devices of all providers
 * @param statements providers' statements about their devices
 * @param refused reasons why devices can't be opened or queried, a sentence each
 */
record HostDevices(List<Device> devices, List<String> statements, List<String> refused) {
  static final String LIBIBVERBS = "libibverbs";

  /**
   * One device.
   *
   * @param trials results of the device's own trials of its fast paths on this host
   */
  record Device(
      String provider, String name, PortAttributes port, GidTable gids, List<DeviceTrial> trials) {
    boolean isHardware() {
      return provider.equals(LIBIBVERBS);
    }
  }

  static HostDevices read(Map<String, String> environment) {
    HostDevices found = new HostDevices(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    Log log =
        (level, sentence) ->
            (level == Log.Level.WARN ? found.refused : found.statements).add(sentence);
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      try {
        for (RdmaDevice device : provider.devices(environment, log, new LeakLedger())) {
          found.open(provider.name(), device);
        }
      } catch (HeddleException failed) {
        found.refused.add(provider.name() + ": " + failed.getMessage());
      }
    }
    return found;
  }

  private void open(String provider, RdmaDevice device) {
    try (DeviceContext context = device.open()) {
      devices.add(
          new Device(
              provider, device.name(), context.port(), context.gidTable(), context.runTrials()));
    } catch (HeddleException failed) {
      refused.add(provider + ": " + failed.getMessage());
    }
  }

  List<Device> hardware() {
    return devices.stream().filter(Device::isHardware).toList();
  }
}
