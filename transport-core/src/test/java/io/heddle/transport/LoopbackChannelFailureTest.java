package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.transport.connection.Connection;
import io.heddle.transport.connection.ListenComm;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of control channels that fail, stall or are slow under a connection, while a queue pair of
 * it breaks.
 */
class LoopbackChannelFailureTest {
  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @TempDir Path folder;

  private Ends ends() {
    return new Ends(
        fabric,
        folder,
        LoopbackFailoverTest.FOUR,
        LoopbackFailoverTest.FOUR,
        LoopbackFailoverTest.QUICK);
  }

  @Test
  void receiverOfFailedChannelNotifiesSenderWhichReconnects() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(2);
      Ends.session(link.receiving()).renew("it fails the receiver");
      Ends.await(
          "the sender's call",
          () ->
              ends.log.stream().anyMatch(line -> line.contains("replaced: the peer requests it"))
                  && ends.log.stream().anyMatch(line -> line.contains("channel now uses")));
      LoopbackFailoverTest.breakPair(true, link, 1);
      traffic.run(30);
      traffic.finish();
    }
  }

  /* Each end still receives pings, so neither treats the channel as silent. */
  @Test
  void stuckChannelIsReplacedForAPlaneMessage() throws IOException {
    assertSurvives(StuckChannelRelay::stopForwarding, "replaced: no answer within");
  }

  /*
   * If both ends are slow, an end may see the closed channel before it learns that the other end
   * uses the next one.
   */
  @Test
  void closedChannelIsReplacedIfTheOtherEndLives() throws IOException {
    assertSurvives(StuckChannelRelay::close, "closed the connection");
  }

  private void assertSurvives(Consumer<StuckChannelRelay> fault, String expectedLine)
      throws IOException {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      try (StuckChannelRelay relay = StuckChannelRelay.inFrontOf(handle);
          Ends.Link link = ends.connect(listener, handle)) {
        Traffic traffic = new Traffic(ends, link, seed);
        traffic.run(2);
        fault.accept(relay);
        LoopbackFailoverTest.breakPair(true, link, 1);
        traffic.run(30);
        traffic.finish();
        Ends.await("plane 1's return", () -> LoopbackFailoverTest.isUp(link, 1));
        assertTrue(
            ends.log.stream().anyMatch(line -> line.contains(expectedLine)), ends.log.toString());
      }
    }
  }

  /* The kernel of the delayed peer accepts connections, and data on the channel stays unread. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void peerWithADelayedControlThreadKeepsItsChannel(boolean senderIsAway)
      throws InterruptedException {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      CountDownLatch back = new CountDownLatch(1);
      Connection away = senderIsAway ? link.sending() : link.receiving();
      Ends.session(away)
          .execute(() -> {
            try {
              back.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
      Ends.await(
          "doubt",
          () ->
              LoopbackFailoverTest.isDelivered(
                  traffic,
                  LoopbackFailoverTest.isLogged(
                      ends, "probing it at its reconnect addresses: silent for 1500 ms")));
      back.countDown();
      Ends.await(
          "its end",
          () ->
              LoopbackFailoverTest.isDelivered(
                  traffic,
                  LoopbackFailoverTest.isLogged(ends, "the control channel stays in use")));
      LoopbackFailoverTest.breakPair(true, link, 1);
      traffic.run(30);
      traffic.finish();
      Ends.await("plane 1's return", () -> LoopbackFailoverTest.isUp(link, 1));
      assertEquals(List.of(), LoopbackFailoverTest.linesWith(ends, "channel is replaced"));
    }
  }
}
