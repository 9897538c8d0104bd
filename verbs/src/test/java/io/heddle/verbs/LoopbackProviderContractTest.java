package io.heddle.verbs;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import io.heddle.verbs.testing.ProviderContract;
import java.util.List;
import java.util.Map;

/** Tests that the loopback provider, used in other modules' tests, keeps the provider contract. */
class LoopbackProviderContractTest extends ProviderContract {
  private final LoopbackFabric fabric = new LoopbackFabric(42);

  @Override
  protected DeviceContext openLeft(LeakLedger ledger) {
    return open(new Gid(0xfd00L << 48, 1), ledger);
  }

  @Override
  protected DeviceContext openRight(LeakLedger ledger) {
    return open(new Gid(0xfd00L << 48, 2), ledger);
  }

  private DeviceContext open(Gid gid, LeakLedger ledger) {
    return new LoopbackProvider(fabric, List.of(gid))
        .devices(Map.of(), Log.toStandardError(), ledger)
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
