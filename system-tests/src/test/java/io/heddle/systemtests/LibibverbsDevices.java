package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.AsyncEventListener.Kind;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.locks.LockSupport;

/** Devices of libibverbs in this process, whose environment may name the stand-in's library. */
final class LibibverbsDevices {
  private static final long LIMIT_SECONDS = 10;
  private static final long POLL_NS = 1_000_000;

  private LibibverbsDevices() {}

  static List<RdmaDevice> all(LeakLedger ledger) {
    return ServiceLoader.load(VerbsProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.name().equals("libibverbs"))
        .findFirst()
        .orElseThrow()
        .devices(Map.of(), Log.toStandardError(), ledger);
  }

  /** Opens the device with this name. */
  static DeviceContext open(String name, LeakLedger ledger) {
    List<RdmaDevice> devices = all(ledger);
    return devices.stream()
        .filter(device -> device.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " isn't among " + devices))
        .open();
  }

  /** Returns the events that a device reports, up to the first of this kind. */
  static List<Kind> eventsUntil(DeviceContext context, Kind last) {
    List<Kind> seen = new ArrayList<>();
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!seen.contains(last)) {
      context.pollAsyncEvents((kind, number) -> seen.add(kind));
      assertFalse(deadline.isOver(), () -> last + " isn't reported within " + deadline);
      LockSupport.parkNanos(POLL_NS);
    }
    return seen;
  }
}
