package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.LeakLedger;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.testing.Endpoint;
import io.heddle.verbs.testing.ProviderContract;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the provider contract for this host's libibverbs devices. */
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#arePresent",
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

  @ParameterizedTest
  @ValueSource(ints = {1, Endpoint.INLINE_BYTES})
  void inlinePayloadNeedsNoRegionAndFreesMemory(int lengthBytes) {
    assertTrue(left.qp.inlineBytes() >= Endpoint.INLINE_BYTES);
    Endpoint.connect(left, right);
    left.fill(lengthBytes, 4);
    byte[] sent = left.bytes(lengthBytes);
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 5, lengthBytes, right);
    wr.inline = true;
    wr.lkey = 0;

    assertEquals(1, left.qp.postSend(wr));
    left.fill(lengthBytes, 5);

    assertEquals(WorkCompletion.Status.SUCCESS, left.awaitCompletion(right).status);
    assertArrayEquals(sent, right.bytes(lengthBytes));
  }

  @Test
  void oversizedInlinePayloadIsRefused() {
    Endpoint.connect(left, right);
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 5, left.qp.inlineBytes() + 1, right);
    wr.inline = true;

    assertTrue(left.qp.postSend(wr) < 1);
  }
}
