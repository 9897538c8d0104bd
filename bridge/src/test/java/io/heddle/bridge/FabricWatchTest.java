package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.bridge.unicast.StandIns;
import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What keeps a bridge from being ready, and what its operator hears of. */
class FabricWatchTest {
  /* Takes nothing, and waits for a port that another program has. */
  private static final class WaitingForwarder implements HostForwarder {
    private String state = "port 18515 isn't free";

    @Override
    public void forward(int side, int train, LoopRules from, LoopRules to, StandIns now) {}

    @Override
    public void expire(int side, long nowNs) {}

    @Override
    public String look() {
      return state;
    }
  }

  private final FaultyFabric first = new FaultyFabric(0);
  private final FaultyFabric second = new FaultyFabric(0);
  private final WaitingForwarder hosts = new WaitingForwarder();
  private final List<String> heard = new ArrayList<>();
  private final FabricWatch watch =
      new FabricWatch(List.of(first, second), hosts, Log.toStandardError(), heard::add);

  @Test
  void onlyAFabricThatDoesNotCarryKeepsTheBridgeFromBeingReady() {
    assertNull(watch.trouble(), "nobody has looked");
    second.state = "e2 has no link";
    watch.look();
    assertEquals("fabric faulty: e2 has no link", watch.trouble());
    second.state = "";
    watch.look();
    assertEquals("", watch.trouble(), "unicast waits, and groups flow");
  }

  @Test
  void anOperatorHearsOnceOfEachChangeAlsoOfUnicasts() {
    watch.look();
    watch.look();
    first.state = "e1 has no link";
    watch.look();
    hosts.state = "";
    first.state = "";
    watch.look();
    assertEquals(
        List.of(
            "unicast: port 18515 isn't free",
            "fabric faulty: e1 has no link",
            "fabric faulty: all is as it was at the start again",
            "unicast: all is as it was at the start again"),
        heard);
  }
}
