package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** How a gateway begins and ends, on a host whose WAN nobody answers in. */
@EndsWithin(120)
final class GatewayLifeTest {
  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    Patience patience = Patience.ofSeconds(30);
    while (!condition.getAsBoolean()) {
      assertFalse(patience.isOver(), what + " doesn't come");
      Thread.sleep(2);
    }
  }

  private static List<String> rules(Gateway gateway) {
    return gateway.view().rules().rules().stream()
        .map(each ->
            each.queuePair()
                + " by "
                + each.list()
                + (each.active() ? "" : " waits")
                + ", "
                + each.setBy())
        .toList();
  }

  @Test
  void rulesOfAControllerOutliveAGatewayThatIsToldToEnd() throws Exception {
    try (LoneHost host = new LoneHost()) {
      host.controller(2, 17);
      Gateway first = host.start(LoneHost.steered());
      await("the rule", () -> rules(first).equals(List.of("17 by sl2, controller 10.0.0.9")));
      first.close();
      Gateway second = host.start(LoneHost.config("", ""));
      assertTrue(second.view().lists().adopted());
      assertEquals(List.of("17 by sl2, found at the start"), rules(second));
    }
  }
}
