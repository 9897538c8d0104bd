package io.heddle.softdevice;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.testing.ProviderContract;
import java.util.Map;

/** The soft device keeps the contract between two contexts on the IPv6 loopback. */
class SoftProviderContractTest extends ProviderContract {
  @Override
  protected DeviceContext openLeft(LeakLedger ledger) {
    return open(ledger);
  }

  @Override
  protected DeviceContext openRight(LeakLedger ledger) {
    return open(ledger);
  }

  private static DeviceContext open(LeakLedger ledger) {
    return new SoftProvider()
        .devices(Map.of("HEDDLE_PLANES", "::1=loop"), Log.toStandardError(), ledger)
        .getFirst()
        .open();
  }

  @Override
  protected int leftGidIndex(DeviceContext context) {
    return 0;
  }

  @Override
  protected int rightGidIndex(DeviceContext context) {
    return 0;
  }
}
