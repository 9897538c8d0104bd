package io.heddle.verbs.libibverbs;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Provider {@code libibverbs}, with one device for each port with RoCEv2 or InfiniBand. It has no
 * devices if the library isn't installed or the kernel lacks verbs.
 */
public final class LibibverbsProvider implements VerbsProvider {
  @Override
  public String name() {
    return "libibverbs";
  }

  @Override
  public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger ledger) {
    if (!Verb.isLibraryPresent()) {
      log.info(
          "libibverbs: %s can't be opened on this machine, so it has no devices", Verb.LIBRARY);
      return List.of();
    }
    ForkSafety.establish(log);
    List<RdmaDevice> devices = new ArrayList<>();
    try (DeviceList list = DeviceList.read()) {
      if (list.entries().isEmpty()) {
        log.info("libibverbs: no devices (%s)", list.reasonIfEmpty());
      }
      for (DeviceList.Entry entry : list.entries()) {
        if (!entry.isChannelAdapter()) {
          log.info("libibverbs: device %s is neither RoCE nor InfiniBand: not used", entry.name());
          continue;
        }
        try {
          devices.addAll(NativeDevice.portsOf(entry, log, ledger));
        } catch (VerbsException closed) {
          log.warn("libibverbs: %s: not used", String.valueOf(closed.getMessage()));
        }
      }
    }
    return devices;
  }
}
