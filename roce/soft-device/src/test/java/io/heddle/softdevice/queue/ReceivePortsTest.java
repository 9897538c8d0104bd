package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.RocePorts;
import io.heddle.platform.LeakLedger;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests that soft devices on one address receive at ports of one range, for firewall rules. */
final class ReceivePortsTest {
  private static final RocePorts RANGE = new RocePorts(4791, 4793);

  private final List<String> logged = new CopyOnWriteArrayList<>();

  private DeviceContext open() {
    long pid = ProcessHandle.current().pid();
    return new SoftDevice(
            new SoftPort("127." + (128 | pid >> 8 & 127) + "." + (pid & 255) + ".77=0"),
            false,
            RANGE,
            SourcePorts.ANY,
            (level, sentence) -> logged.add(level + " " + sentence),
            new LeakLedger(),
            arena -> PacketGate.OPEN)
        .open();
  }

  private static int port(DeviceContext context) {
    var pd = context.allocateProtectionDomain();
    var cq = context.createCompletionQueue(16);
    QueuePair qp = pd.createQueuePair(new QueuePairAttributes(cq, cq, 4, 4));
    qp.initialise(0);
    return EndpointParameters.parse(qp.endpointParameters(), "test").ends().getFirst().port();
  }

  @Test
  void eachProcessUsesFirstFreePort() {
    List<DeviceContext> open = new ArrayList<>();
    try {
      List<Integer> ports = new ArrayList<>();
      for (int i = 0; i < RANGE.count(); i++) {
        open.add(open());
        ports.add(port(open.getLast()));
      }
      assertEquals(List.of(4791, 4792, 4793), ports);
      assertFalse(logged.stream().anyMatch(line -> line.startsWith("WARN")), logged::toString);
      open.remove(1).close();
      open.add(open());
      assertEquals(4792, port(open.getLast()), "one that has become free");

      open.add(open());
      int outside = port(open.getLast());
      assertFalse(RANGE.contains(outside), "port " + outside);
      String warning = logged.getLast();
      assertTrue(
          warning.startsWith("WARN soft0: UDP ports 4791-4793 of ")
              && warning.contains(" port " + outside + ", ")
              && warning.contains("HEDDLE_PORTS"),
          warning);
    } finally {
      open.forEach(DeviceContext::close);
    }
  }
}
