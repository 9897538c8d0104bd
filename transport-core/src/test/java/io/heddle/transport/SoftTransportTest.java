package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The transport over the soft RoCE device, on IPv4 loopback. */
class SoftTransportTest extends EndingSuite {
  @Override
  Ends ends(List<Integer> left, List<Integer> right, Map<String, String> more) {
    return new Ends(null, folder, left, right, more);
  }

  @Test
  void overALossyNetworkEveryMessageArrivesAndEveryCloseIsGraceful() {
    String faults = "loss=0.02,reorder=0.02,duplicate=0.02,seed=11";
    try (Ends ends = ends(FOUR, FOUR, Map.of("HEDDLE_SOFT_FAULTS", faults))) {
      for (int round = 0; round < 25; round++) {
        Ends.Link link = ends.connect();
        int length = 300_000;
        long from = ends.memory(length);
        long to = ends.memory(length);
        Ends.fill(from, length, round);
        long handle = link.receiver().registerMemory(to, length, 1);
        long fromHandle = link.sender().registerMemory(from, length, 1);
        long receive = ends.receive(link, to, length, 1, handle);
        long send = Ends.send(link, from, length, 1, fromHandle);
        Ends.finish(link, receive);
        Ends.check(to, length, round);
        /* The receiver is content and goes; what the sender still misses are acknowledgements. */
        link.receiver().close();
        Ends.await(
            "completion of the send",
            () -> {
              assertEquals(0, link.sender().progress(), ends.log.toString());
              return Ends.isDone(send);
            });
        link.sender().close();
        link.listener().close();
      }
    }
  }
}
