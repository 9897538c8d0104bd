package io.heddle.verbs.libibverbs;

import io.heddle.platform.LeakLedger;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.testing.ProviderContract;
import org.junit.jupiter.api.condition.EnabledIf;

/** What every provider promises, kept by the devices that libibverbs finds on this machine. */
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#areThere",
    disabledReason = "libibverbs lists no device here")
class LibibverbsContractTest extends ProviderContract {
  @Override
  protected DeviceContext openLeft(LeakLedger ledger) {
    return TestDevices.openLeft(ledger);
  }

  @Override
  protected DeviceContext openRight(LeakLedger ledger) {
    return TestDevices.openRight(ledger);
  }

  @Override
  protected int leftGidIndex(DeviceContext context) {
    return TestDevices.gidIndex(context);
  }

  @Override
  protected int rightGidIndex(DeviceContext context) {
    return TestDevices.gidIndex(context);
  }
}
