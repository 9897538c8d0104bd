package io.heddle.gateway.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Reflector that receives more probes than it can answer in one round. */
@EndsWithin(120)
@SystemTest
final class ProbesTest {
  private static final int BURST = 100;
  private static final long MS = 1_000_000;

  private static Probes reflector() {
    return Probes.start(List.of(), AddressText.parse("::1"), MS, (level, sentence) -> {});
  }

  private static DatagramChannel sender() throws Exception {
    DatagramChannel sender = DatagramChannel.open(StandardProtocolFamily.INET6);
    sender.connect(new InetSocketAddress("::1", StampPacket.PORT));
    sender.configureBlocking(false);
    return sender;
  }

  @Test
  void everyProbeOfABurstIsAnsweredInSeveralRounds() throws Exception {
    Requirements.namespaces();
    try (NetworkNamespaces net = NetworkTopology.of("burst").create()) {
      NetworkNamespace host = net.node("burst");
      try (Probes far = host.call(ProbesTest::reflector);
          DatagramChannel sender = host.call(ProbesTest::sender)) {
        for (int i = 0; i < BURST; i++) {
          sender.write(ByteBuffer.wrap(StampPacket.probe(i, 0)));
        }
        Deadline deadline = Deadline.ofSeconds(30);
        ByteBuffer answer = ByteBuffer.allocate(2_048);
        int answers = 0;
        while (answers < BURST) {
          int length = sender.read(answer.clear());
          answers += length > 0 ? 1 : 0;
          assertFalse(deadline.isOver(), answers + " answers");
        }
        assertEquals(BURST, answers);
        assertTrue(far.results().isEmpty());
      }
    }
  }

  @Test
  void resultsAreAvailableDuringAFlood() throws Exception {
    Requirements.namespaces();
    try (NetworkNamespaces net = NetworkTopology.of("flood").create()) {
      NetworkNamespace host = net.node("flood");
      try (Probes far = host.call(ProbesTest::reflector);
          DatagramChannel sender = host.call(ProbesTest::sender)) {
        AtomicBoolean enough = new AtomicBoolean();
        Thread flood =
            Thread.ofPlatform()
                .daemon()
                .start(() -> {
                  byte[] probe = StampPacket.probe(1, 0);
                  try {
                    while (!enough.get()) {
                      sender.write(ByteBuffer.wrap(probe));
                    }
                  } catch (java.io.IOException ended) {
                    enough.set(true);
                  }
                });
        try {
          for (int i = 0; i < 20; i++) {
            assertTrue(far.results().isEmpty());
          }
        } finally {
          enough.set(true);
          flood.join();
        }
      }
    }
  }
}
