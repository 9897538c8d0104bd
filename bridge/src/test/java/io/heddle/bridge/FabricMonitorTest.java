package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bridge.fabric.StubFabric;
import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults that prevent a bridge's readiness, and messages to its operator. */
class FabricMonitorTest {
  private final StubFabric first = new StubFabric();
  private final StubFabric second = new StubFabric();
  /* Fault of unicast: another program uses its port. */
  private String unicast = "port 18515 isn't free";
  private final List<String> heard = new ArrayList<>();
  private final FabricMonitor watch =
      new FabricMonitor(List.of(first, second), () -> unicast, Log.toStandardError(), heard::add);

  @Test
  void onlyFaultyFabricPreventsReadiness() {
    assertNull(watch.trouble(), "not checked yet");
    second.state = "e2 has no link";
    watch.check();
    assertEquals("fabric stub: e2 has no link", watch.trouble());
    second.state = "";
    watch.check();
    assertEquals("", watch.trouble(), "unicast isn't part of readiness");
  }

  @Test
  void reportsEachChangeOnceIncludingUnicast() {
    watch.check();
    watch.check();
    first.state = "e1 has no link";
    watch.check();
    unicast = "";
    first.state = "";
    watch.check();
    assertEquals(
        List.of(
            "unicast: port 18515 isn't free",
            "fabric stub: e1 has no link",
            "fabric stub: all is as it was at the start again",
            "unicast: all is as it was at the start again"),
        heard);
  }
}
