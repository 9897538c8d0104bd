package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.device.TransportResult;
import io.heddle.transport.failover.PlaneState;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of planes that fail under a connection, over an in-memory network that can be cut anywhere.
 */
class LoopbackFailoverTest {
  static final List<Integer> FOUR = List.of(1, 2, 3, 4);

  /* Settings with 8 ms per try. */
  static final Map<String, String> QUICK =
      Map.of("NCCL_IB_TIMEOUT", "11", "NCCL_IB_RETRY_CNT", "1");

  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @TempDir Path folder;

  private Ends ends(Map<String, String> more) {
    Map<String, String> all = new java.util.HashMap<>(QUICK);
    all.putAll(more);
    return new Ends(fabric, folder, FOUR, FOUR, all);
  }

  static boolean isUp(Ends.Link link, int plane) {
    return state(link.sending(), plane) == PlaneState.UP
        && state(link.receiving(), plane) == PlaneState.UP;
  }

  static PlaneState state(Connection connection, int plane) {
    return connection.failover().state(plane);
  }

  @Test
  void planeCutInMidMessageLosesNoByteAndComesBack() {
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      fabric.cut(Ends.gid("127.0.77.3"));
      traffic.run(30);
      Ends.await(
          "fence",
          () -> {
            traffic.drive(true);
            return state(link.sending(), 2) != PlaneState.UP;
          });
      traffic.run(10);
      String line =
          ends.log.stream().filter(each -> each.contains("moving off")).findFirst().orElseThrow();
      assertTrue(line.contains("plane:3") && line.contains("127.0.77.3"), line);
      fabric.reconnect(Ends.gid("127.0.77.3"));
      Ends.await(
          "return",
          () -> {
            traffic.drive(true);
            return isUp(link, 2);
          });
      traffic.run(10);
      traffic.finish();
    }
  }

  @Test
  void silentPlaneWithoutARouteIsAbandonedLongBeforeItsRetriesEnd() {
    /* 4 s per try and 12 s in all */
    try (Ends ends = ends(Map.of("NCCL_IB_TIMEOUT", "20", "NCCL_IB_RETRY_CNT", "2"));
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      fabric.cut(Ends.gid("127.0.77.3"));
      Deadline retries = Deadline.ofSeconds(4);
      for (int i = 0; i < 2_000; i++) {
        traffic.drive(true);
      }
      link.sending().failover().withdrawn(2);
      link.receiving().failover().withdrawn(2);
      Ends.await(
          "fence",
          () -> {
            traffic.drive(true);
            return state(link.sending(), 2) != PlaneState.UP;
          });
      assertFalse(retries.isOver(), () -> "after " + retries);
      /* The state changes before it is logged. */
      Ends.await(
          "the story of the fence",
          () ->
              ends.log.stream()
                  .anyMatch(line ->
                      line.contains("moving off plane plane:3")
                          && line.contains("its route is gone")));
      traffic.run(10);
      traffic.finish();
    }
  }

  @Test
  void planeWithoutARouteIsNoFailureWhileItAnswers() {
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      link.sending().failover().withdrawn(2);
      traffic.run(30);
      traffic.finish();
      assertTrue(isUp(link, 2));
    }
  }

  @ParameterizedTest
  @CsvSource({"spray", "pinned", "least-in-flight", "spraylink", "hash"})
  void threeOfFourPlanesDieTogetherUnderEveryPolicy(String policy) {
    try (Ends ends = ends(Map.of("HEDDLE_POLICY", policy));
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      for (int plane : List.of(1, 2, 4)) {
        fabric.cut(Ends.gid("127.0.78." + plane));
      }
      traffic.run(40);
      traffic.finish();
    }
  }

  /* The plane fails and returns between any two polls of the weights. */
  @ParameterizedTest
  @CsvSource({"spray", "pinned"})
  void theLastPlaneGoesAndComesWhileSendsBegin(String policy) throws Exception {
    try (Ends ends = ends(Map.of("HEDDLE_POLICY", policy));
        Ends.Link link = ends.connect();
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      AtomicBoolean over = new AtomicBoolean();
      ConnectionWeights weights = link.sending().carrierWeights();
      Future<?> falling =
          threads.submit(() -> {
            IntStream.range(1, FOUR.size()).forEach(plane -> weights.setShare(plane, 0));
            while (!over.get()) {
              weights.setShare(0, 0);
              weights.setShare(0, ConnectionWeights.FULL_SHARE);
            }
          });
      try {
        /* The message is longer than a preferred chunk, so that it is cut. */
        int length = 62_000;
        long from = ends.memory(length);
        long to = ends.memory(length);
        long toHandle = link.receiver().registerMemory(to, length, 1);
        long fromHandle = link.sender().registerMemory(from, length, 1);
        for (int message = 0; message < 3_000; message++) {
          long receive = ends.receive(link, to, length, 1, toHandle);
          Ends.finish(link, Ends.send(link, from, length, 1, fromHandle));
          Ends.finish(link, receive);
        }
      } finally {
        over.set(true);
        Deadline.ofSeconds(20).get(falling);
      }
    }
  }

  @Test
  void messagesSurviveRandomPlaneFailuresAndControlChannelRestarts() {
    Random random = new Random(seed);
    try (Ends ends = ends(Map.of("NCCL_IB_QPS_PER_CONNECTION", "2"));
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      Set<Integer> cut = new HashSet<>();
      long endNs = System.nanoTime() + 4_000_000_000L;
      while (System.nanoTime() - endNs < 0) {
        int plane = 1 + random.nextInt(4);
        String side = random.nextBoolean() ? "127.0.77." : "127.0.78.";
        switch (random.nextInt(5)) {
          case 0 -> {
            /*
             * One plane stays: without any plane nothing could arrive, and other tests cover that.
             */
            if (cut.contains(plane) || cut.size() < FOUR.size() - 1) {
              cut.add(plane);
              fabric.cut(Ends.gid(side + plane));
            }
          }
          case 1 -> breakPair(random.nextBoolean(), link, random.nextInt(8));
          case 2 -> {
            Connection end = random.nextBoolean() ? link.sending() : link.receiving();
            Ends.session(end).renew("in doubt");
          }
          default -> {
            cut.clear();
            mendAll();
          }
        }
        traffic.run(random.nextInt(6));
      }
      mendAll();
      traffic.run(20);
      traffic.finish();
    } catch (AssertionError failure) {
      throw new AssertionError("seed " + seed, failure);
    }
  }

  private void mendAll() {
    FOUR.forEach(each -> {
      fabric.reconnect(Ends.gid("127.0.77." + each));
      fabric.reconnect(Ends.gid("127.0.78." + each));
    });
  }

  static void breakPair(boolean atSender, Ends.Link link, int flow) {
    Connection connection = (atSender ? link.sending() : link.receiving());
    connection.pairs().subFlows()[flow].pair.queuePair().toError();
  }

  @ParameterizedTest
  @CsvSource({"127.0.77.2", "127.0.78.2"})
  void aPlaneWithoutAddressWhenTheConnectionIsMadeJoinsItLater(String address) {
    try (Ends ends = ends(Map.of())) {
      fabric.removeAddress(Ends.gid(address));
      try (Ends.Link link = ends.connect()) {
        Traffic traffic = new Traffic(ends, link, seed);
        traffic.run(10);
        assertFalse(isUp(link, 1));
        assertTrue(
            ends.log.stream()
                .anyMatch(line -> line.contains("moving off") && line.contains("has no address")),
            ends.log.toString());
        fabric.restoreAddress(Ends.gid(address));
        Ends.await(
            "the plane",
            () -> {
              traffic.drive(true);
              return isUp(link, 1);
            });
        traffic.run(10);
        traffic.finish();
      }
    }
  }

  /* EINVAL isn't retried: the connection begins without the plane. */
  @Test
  void aPlaneWhoseDeviceRefusesWhenTheConnectionIsMadeJoinsItLater() {
    try (Ends ends = ends(Map.of())) {
      fabric.refuseConnects(1, Errno.EINVAL);
      try (Ends.Link link = ends.connect()) {
        assertTrue(
            ends.log.stream()
                .anyMatch(line -> line.contains("moving off") && line.contains("to RTR")),
            ends.log.toString());
        Traffic traffic = new Traffic(ends, link, seed);
        traffic.run(10);
        Ends.await(
            "the plane",
            () -> {
              traffic.drive(true);
              return IntStream.range(0, FOUR.size()).allMatch(plane -> isUp(link, plane));
            });
        traffic.run(10);
        traffic.finish();
      }
    }
  }

  @Test
  void withoutAddressOnAnyPlaneNoConnectionIsMade() {
    try (Ends ends = ends(Map.of())) {
      FOUR.forEach(plane -> fabric.removeAddress(Ends.gid("127.0.77." + plane)));
      HeddleException refused = assertThrows(HeddleException.class, ends::connect);
      assertTrue(
          refused.getMessage().contains("end has no address on the plane"), refused.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void brokenQueuePairAtEitherEndIsAbandonedByBoth(boolean atSender) {
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(2);
      breakPair(atSender, link, 1);
      traffic.run(30);
      traffic.finish();
    }
  }

  /*
   * The test waits longer than the 1 s after which a plane is retried. Then it takes the baton: a
   * control thread that still polled the failed end would wait for the baton and serve no other
   * task.
   */
  @ParameterizedTest
  @EnumSource(names = {"DOWN", "PROBING"})
  void failedEndRetriesNoPlane(PlaneState reached) throws InterruptedException {
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      link.sending().failover().onPlaneFailure(1, 0, "cut by the test");
      Ends.await("the fall of a plane", () -> state(link.sending(), 1) == PlaneState.DOWN);
      fabric.holdAcknowledgements(true);
      Ends.await("state " + reached, () -> state(link.sending(), 1) == reached);
      takeBaton(link);
      link.sender().fail(TransportResult.REMOTE_ERROR, "it can't go on");
      link.sender().baton().release();
      fabric.holdAcknowledgements(false);
      Thread.sleep(1_500);
      assertEquals(reached, state(link.sending(), 1), ends.log.toString());
      takeBaton(link);
      try {
        CountDownLatch served = new CountDownLatch(1);
        Thread.sleep(20);
        ends.left.loop().execute(served::countDown);
        assertTrue(served.await(10, TimeUnit.SECONDS), "the control thread polls a failed end");
      } finally {
        link.sender().baton().release();
      }
    }
  }

  private static void takeBaton(Ends.Link link) {
    link.sender().baton().spinUntilTaken();
  }

  static boolean isDelivered(Traffic traffic, boolean enough) {
    traffic.drive(true);
    return enough;
  }

  /* Found by random failures and returns of planes: seed 84886172087126. */
  @Test
  void heldDownPlaneIsRetriedAtOnceWhenTheLastOtherFails() {
    try (Ends ends = ends(Map.of("HEDDLE_GRACE_MS", "1700"));
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      /* The plane is held down for a second, and then for two. */
      for (int falls = 0; falls < 2; falls++) {
        Ends.await("the plane", () -> isDelivered(traffic, isUp(link, 1)));
        breakPair(true, link, 1);
        Ends.await("its fall", () -> isDelivered(traffic, !isUp(link, 1)));
      }
      for (int plane : List.of(1, 3, 4)) {
        fabric.cut(Ends.gid("127.0.77." + plane));
      }
      traffic.run(30);
      traffic.finish();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void connectionWithoutPlanesFailsAfterTheGraceTimeAndReportsEachPlane(boolean together) {
    if (together) {
      fabric.enablePeerGroups();
    }
    try (Ends ends = ends(Map.of("HEDDLE_GRACE_MS", "300"))) {
      Ends.Link link = ends.connect();
      long to = ends.memory(1 << 20);
      long toHandle = link.receiver().registerMemory(to, 1 << 20, 1);
      long fromHandle = link.sender().registerMemory(to, 1 << 20, 1);
      long receive = ends.receive(link, to, 1 << 20, 1, toHandle);
      long send = Ends.send(link, to, 1 << 20, 1, fromHandle);
      FOUR.forEach(plane -> fabric.cut(Ends.gid("127.0.77." + plane)));
      long start = System.nanoTime();
      Deadline deadline = Deadline.ofSeconds(5);
      Ends.await(
          "failure of the sender", () -> link.sender().progress() == TransportResult.REMOTE_ERROR);
      long tookNs = System.nanoTime() - start;
      assertTrue(tookNs > 250_000_000 && !deadline.isOver(), "after " + tookNs);
      Ends.await(
          "failure of the receiver",
          () -> link.receiver().progress() == TransportResult.REMOTE_ERROR);
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(send));
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(receive));
      for (int plane : FOUR) {
        assertTrue(
            ends.log.stream()
                .anyMatch(line ->
                    line.contains("plane:" + plane)
                        && line.contains(together ? "answers nothing" : "ms ago")),
            ends.log.toString());
      }
      link.close();
    }
  }

  @Test
  void peerSilentOnAllPlanesIsWaitedForWithoutAFence() {
    fabric.enablePeerGroups();
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      FOUR.forEach(plane -> fabric.cut(Ends.gid("127.0.77." + plane)));
      Ends.await(
          "the wait", () -> isDelivered(traffic, isLogged(ends, "is silent on all planes for")));
      mendAll();
      traffic.run(30);
      Ends.await(
          "the end of it", () -> isDelivered(traffic, isLogged(ends, "answers again, after")));
      traffic.finish();
      assertEquals(List.of(), linesWith(ends, "moving off"));
      assertEquals(List.of(), linesWith(ends, "channel is replaced"));
    }
  }

  @Test
  void returningPeerLosesOnlyTheFailedPlane() {
    fabric.enablePeerGroups();
    try (Ends ends = ends(Map.of());
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      FOUR.forEach(plane -> fabric.cut(Ends.gid("127.0.77." + plane)));
      Ends.await(
          "the wait", () -> isDelivered(traffic, isLogged(ends, "is silent on all planes for")));
      for (int plane : List.of(1, 2, 4)) {
        fabric.reconnect(Ends.gid("127.0.77." + plane));
      }
      traffic.run(30);
      traffic.finish();
      assertFalse(isUp(link, 2));
      for (int plane : List.of(0, 1, 3)) {
        assertTrue(isUp(link, plane), "plane " + plane + ends.log);
      }
    }
  }

  /*
   * The plane that is up doesn't answer, so the plane that is down can't wait for the end of its
   * hold-down.
   */
  @Test
  void heldDownPlaneIsRetriedAtOnceWhileTheOthersAreSilent() {
    fabric.enablePeerGroups();
    try (Ends ends = ends(Map.of("HEDDLE_GRACE_MS", "1700"));
        Ends.Link link = ends.connect()) {
      Traffic traffic = new Traffic(ends, link, seed);
      for (int falls = 0; falls < 2; falls++) {
        Ends.await("the plane", () -> isDelivered(traffic, isUp(link, 1)));
        breakPair(true, link, 1);
        Ends.await("its fall", () -> isDelivered(traffic, !isUp(link, 1)));
      }
      for (int plane : List.of(1, 3, 4)) {
        fabric.cut(Ends.gid("127.0.77." + plane));
      }
      traffic.run(30);
      traffic.finish();
    }
  }

  static List<String> linesWith(Ends ends, String part) {
    return ends.log.stream().filter(line -> line.contains(part)).toList();
  }

  static boolean isLogged(Ends ends, String part) {
    return !linesWith(ends, part).isEmpty();
  }
}
