package io.heddle.tools.doctor;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * The verbs devices, each opened once and closed again.
 *
 * @param devices of all providers
 * @param said what providers and devices said against themselves
 */
record HostDevices(List<Device> devices, List<String> said) {
  static final String LIBIBVERBS = "libibverbs";

  /** One device. */
  record Device(String provider, String name, PortAttributes port, GidTable gids) {
    boolean isHardware() {
      return provider.equals(LIBIBVERBS);
    }
  }

  static HostDevices look(Map<String, String> environment) {
    List<Device> devices = new ArrayList<>();
    List<String> said = new ArrayList<>();
    Log log = (level, sentence) -> said.add(sentence);
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      try {
        for (RdmaDevice device : provider.devices(environment, log, new LeakLedger())) {
          try (DeviceContext context = device.open()) {
            devices.add(
                new Device(provider.name(), device.name(), context.port(), context.gidTable()));
          }
        }
      } catch (HeddleException refused) {
        said.add(provider.name() + ": " + refused.getMessage());
      }
    }
    return new HostDevices(devices, said);
  }

  List<Device> hardware() {
    return devices.stream().filter(Device::isHardware).toList();
  }
}
