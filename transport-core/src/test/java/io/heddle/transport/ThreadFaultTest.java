package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.device.AddressFollower;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.failover.Failover;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.Gid;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests of errors in the threads of a process with the plugin. Each is logged in one line. Either
 * the thread continues, or the connections that depend on it fail with a result.
 */
@EndsWithin(120)
class ThreadFaultTest {
  private static final List<Integer> PLANES = List.of(1, 2);
  private static final int CALLS_AT_A_TIME = 32;

  @TempDir Path folder;

  static Stream<Error> errors() {
    return Stream.of(
        new OutOfMemoryError("as injected"),
        new StackOverflowError("as injected"),
        new AssertionError("as injected"),
        new NoClassDefFoundError("as injected"),
        new InternalError("as injected"));
  }

  private Ends ends(Map<String, String> left, Map<String, String> right) {
    return new Ends(new LoopbackFabric(3), folder, PLANES, PLANES, left, right);
  }

  private static void assertReported(Ends ends, String thread, Error error) {
    Ends.await(
        "a line",
        () ->
            ends.log.stream()
                .anyMatch(line ->
                    line.startsWith("WARN " + thread + ": ") && line.contains(error.toString())));
  }

  /*
   * Asserts that another connection of the same two processes works: the control thread continues.
   */
  private static void assertOtherConnectionsWork(Ends ends) {
    try (Ends.Link other = ends.connect()) {
      ends.exchange(other, 5_000, 5_000, 9);
    }
  }

  /* Asserts that both ends fail: each has a pending request, for which NCCL waits. */
  private void assertBothEndsFail(Ends ends, Ends.Link link) {
    long to = ends.memory(1000);
    long toHandle = link.receiver().registerMemory(to, 1000, 1);
    long[] receive = new long[1];
    Ends.await(
        "a failing receive",
        () -> {
          /* While the control thread holds the connection's baton, irecv returns no request. */
          if (receive[0] == 0) {
            receive[0] = ends.tryReceive(link, to, 1000, 7, toHandle);
          }
          return receive[0] < 0
              || receive[0] > 0 && link.receiver().progress() != 0 && Ends.state(receive[0]) < 0;
        });
    long from = ends.memory(1000);
    long fromHandle = link.sender().registerMemory(from, 1000, 1);
    Ends.await("a failing send", () -> link.sender().isend(from, 1000, 8, fromHandle) < 0);
    Ends.await("a failing test", () -> link.sender().progress() != 0);
    link.sender().deregisterMemory(fromHandle);
    link.receiver().deregisterMemory(toHandle);
  }

  @ParameterizedTest
  @MethodSource("errors")
  void failedControlTaskEndsOnlyItsConnection(Error error) {
    try (Ends ends = ends(Map.of(), Map.of());
        Ends.Link link = ends.connect()) {
      /* The control thread logs this line when it begins the failover. */
      ends.thrownAt.put("moving off", error);
      Failover failover = link.sending().failover();
      failover.onPlaneFailure(0, 0, "as injected");
      assertBothEndsFail(ends, link);
      assertReported(ends, "heddle-control", error);
      assertOtherConnectionsWork(ends);
    }
  }

  @Test
  void failedTimerEndsItsConnection() {
    Error error = new AssertionError("in a timer");
    LoopbackFabric fabric = new LoopbackFabric(3);
    try (Ends ends = new Ends(fabric, folder, PLANES, PLANES, Map.of("HEDDLE_GRACE_MS", "1000"));
        Ends.Link link = ends.connect()) {
      ends.thrownAt.put(" fell ", error);
      PLANES.forEach(plane -> fabric.cut(Ends.gid("127.0.77." + plane)));
      Failover failover = link.sending().failover();
      failover.onPlaneFailure(0, 0, "as injected");
      failover.onPlaneFailure(1, 0, "as injected");
      assertBothEndsFail(ends, link);
    }
  }

  @ParameterizedTest
  @MethodSource("errors")
  @WholeRunOnly(alwaysRunRows = {1, 5})
  void failedHandshakeFailsConnectAndAccept(Error error) {
    /*
     * The error is thrown where an end logs the number of queue pairs, in the middle of the
     * handshake. It logs the number only if that differs from its setting, so the settings differ.
     */
    try (Ends ends = ends(Map.of("NCCL_IB_QPS_PER_CONNECTION", "2"), Map.of())) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ends.thrownAt.put("queue pairs on each plane", error);
      HeddleException connect =
          assertThrows(
              HeddleException.class,
              () ->
                  Ends.await("connect's failure", () -> ends.left.connect(0, -1, handle) != null));
      assertTrue(
          String.valueOf(connect.getMessage()).contains("the control thread failed"),
          connect::toString);
      assertThrows(
          HeddleException.class,
          () -> Ends.await("accept's failure", () -> ends.right.accept(listener) != null));
      assertReported(ends, "heddle-control", error);
      listener.close();
      assertOtherConnectionsWork(ends);
    }
  }

  @ParameterizedTest
  @MethodSource("errors")
  void failedAcceptFailsBothEnds(Error error) {
    try (Ends ends = ends(Map.of(), Map.of("NCCL_IB_QPS_PER_CONNECTION", "2"))) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ends.thrownAt.put("queue pairs on each plane", error);
      assertThrows(
          HeddleException.class,
          () -> Ends.await("connect's failure", () -> ends.left.connect(0, -1, handle) != null));
      assertThrows(
          HeddleException.class,
          () -> Ends.await("accept's failure", () -> ends.right.accept(listener) != null));
      assertReported(ends, "heddle-control", error);
      listener.close();
      assertOtherConnectionsWork(ends);
    }
  }

  @Test
  void unhandledDeviceEventEndsItsConnections() {
    Error error = new OutOfMemoryError("in an event");
    LoopbackFabric fabric = new LoopbackFabric(3);
    try (Ends ends = new Ends(fabric, folder, PLANES, PLANES, Map.of());
        Ends.Link link = ends.connect()) {
      ends.thrownAt.put(" reports ", error);
      int number = link.sender().flows()[0].pair.queuePair().number();
      fabric.raise(AsyncEventListener.Kind.QUEUE_PAIR_FATAL, number);
      assertReported(ends, "heddle-control", error);
      assertBothEndsFail(ends, link);
    }
  }

  /* Makes one call more than may run at a time: each failed call must make room for another. */
  @Test
  void failedConnectionThatCannotBeClosedDelaysNoOther() {
    LoopbackFabric fabric = new LoopbackFabric(3);
    try (Ends ends =
        new Ends(
            fabric, folder, PLANES, PLANES, Map.of(), Map.of("NCCL_IB_QPS_PER_CONNECTION", "2"))) {
      PLANES.forEach(plane -> fabric.refuseCloses(Ends.gid("127.0.77." + plane), true));
      for (int i = 0; i <= CALLS_AT_A_TIME; i++) {
        long handle = ends.handle();
        ListenComm listener = ends.right.listen(0, handle);
        ends.thrownAt.put("queue pairs on each plane", new AssertionError("as injected"));
        assertThrows(
            HeddleException.class,
            () -> Ends.await("connect's failure", () -> ends.left.connect(0, -1, handle) != null));
        listener.close();
      }
      PLANES.forEach(plane -> fabric.refuseCloses(Ends.gid("127.0.77." + plane), false));
      assertReported(ends, "heddle-control", new AssertionError("as injected"));
      assertTrue(ends.log.stream().anyMatch(line -> line.contains("destroy_qp")), "none was stuck");
      assertOtherConnectionsWork(ends);
    }
  }

  @Test
  void controlThreadThatCannotFailOneConnectionFailsAll() {
    try (Ends ends = ends(Map.of(), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link other = ends.connect()) {
      ends.left
          .loop()
          .tasksOf(told -> {
            throw new OutOfMemoryError("nor this");
          })
          .execute(() -> {
            throw new OutOfMemoryError("as injected");
          });
      assertBothEndsFail(ends, link);
      assertBothEndsFail(ends, other);
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      HeddleException refused =
          assertThrows(HeddleException.class, () -> ends.left.connect(0, -1, handle));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("the control thread has failed"),
          refused::toString);
      listener.close();
      HeddleException deaf =
          assertThrows(HeddleException.class, () -> ends.left.listen(0, ends.handle()));
      assertTrue(
          String.valueOf(deaf.getMessage()).contains("the control thread has failed"),
          deaf::toString);
    }
  }

  @Test
  void periodicTasksOfTheControlThreadContinueAfterAFault() {
    List<String> lines = new CopyOnWriteArrayList<>();
    AtomicInteger polls = new AtomicInteger();
    try (ControlLoop loop =
        new ControlLoop(NanoClock.SYSTEM, (level, sentence) -> lines.add(sentence))) {
      loop.every(
          1_000_000,
          () -> {
            if (polls.incrementAndGet() < 3) {
              throw new StackOverflowError("poll " + polls.get());
            }
          });
      Ends.await("five polls", () -> polls.get() >= 5);
    }
    assertEquals(2, lines.size(), lines::toString);
  }

  @Test
  void failedApplicationOfWeightsIsRetried() {
    Path file = folder.resolve("routes");
    try (RoutePublisher publisher =
        RoutePublisher.create(file, "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM)) {
      PLANES.forEach(
          plane -> publisher.setPlane(new PublishedPlane("plane:" + plane, null, 0, "")));
      publisher.goLive();
      try (Ends ends =
              new Ends(
                  new LoopbackFabric(3),
                  folder,
                  PLANES,
                  PLANES,
                  Map.of("HEDDLE_ROUTES", file.toString()));
          Ends.Link link = ends.connect()) {
        Error error = new OutOfMemoryError("in the weights");
        ends.thrownAt.put("weights for ", error);
        publisher.begin();
        for (int plane = 0; plane < PLANES.size(); plane++) {
          Gid gid = Ends.gid("127.0.78." + PLANES.get(plane));
          long megabits = 100_000L * (1 + plane);
          publisher.set(
              gid.high(),
              gid.low(),
              128,
              plane,
              RouteCell.of(WeightReason.PATH_BANDWIDTH, megabits));
        }
        publisher.heartbeat();
        publisher.commit();
        Ends.await(
            "the new weights",
            () -> {
              publisher.heartbeat();
              return link.sending().carrierWeights().current().weight(1)
                  == 2 * link.sending().carrierWeights().current().weight(0);
            });
        assertReported(ends, "heddle-routes", error);
      }
    }
  }

  /* The test runs in its own network namespace, where an interface comes and goes. */
  @Test
  void addressFollowerContinuesAfterAFault() throws Exception {
    List<String> namespace = List.of("unshare", "--user", "--map-root-user", "--net");
    Assumptions.assumeTrue(
        run(Stream.concat(namespace.stream(), Stream.of("ip", "link")).toList()).code == 0,
        "no network namespace can be made here");
    Run run =
        run(
            Stream.concat(
                    namespace.stream(),
                    Stream.of(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Following.class.getName()))
                .toList());
    assertEquals(0, run.code, run.output);
    assertTrue(
        run.output.contains(
            "heddle-addresses: continues after: java.lang.AssertionError: as injected"),
        run.output);
    assertTrue(run.output.contains("polled again"), run.output);
  }

  private record Run(int code, String output) {}

  private static Run run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }

  /** Program that follows an interface that comes and goes, and fails at its first removal. */
  static final class Following {
    private Following() {}

    public static void main(String[] arguments) throws Exception {
      AtomicInteger polls = new AtomicInteger();
      /* The follower calls get() for each removed interface. */
      List<NetDevice> devices =
          new AbstractList<>() {
            @Override
            public NetDevice get(int index) {
              throw new IndexOutOfBoundsException(index);
            }

            @Override
            public int size() {
              if (polls.incrementAndGet() == 1) {
                throw new AssertionError("as injected");
              }
              return 0;
            }
          };
      Log log = Log.toStandardError();
      try (ControlLoop loop = new ControlLoop(NanoClock.SYSTEM, log);
          AddressFollower follower = new AddressFollower(devices, loop, log)) {
        while (polls.get() < 2) {
          run(List.of("ip", "link", "add", "here", "type", "veth", "peer", "name", "there"));
          run(List.of("ip", "link", "del", "here"));
        }
        System.out.println("polled again");
      }
    }
  }

  @Test
  void failedWarmUpIsReportedAndTheJobContinues() {
    Error error = new OutOfMemoryError("in the warm-up");
    try (Ends ends = ends(Map.of(), Map.of())) {
      ends.thrownAt.put("warmed up with", error);
      ends.left.startWarmUp(1_000_000);
      assertReported(ends, "heddle-warm-up", error);
      assertOtherConnectionsWork(ends);
    }
  }
}
