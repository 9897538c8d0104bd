package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ShutdownDrain;
import io.heddle.transport.device.TransportResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the last messages of a process that ends without closing. */
@EndsWithin(90)
final class ShutdownDrainTest {
  private static final int LENGTH = 8 << 20;
  private static final long PLENTY_NS = 60_000_000_000L;
  private static final long QUIET_NS = 20_000_000;

  @TempDir private Path folder;

  private Ends open() {
    return new Ends(null, folder, List.of(1, 2), List.of(1, 2), Map.of());
  }

  private static ShutdownDrain of(Ends ends, Communicator... open) {
    Log log = (level, sentence) -> ends.log.add(level + " " + sentence);
    return new ShutdownDrain(() -> List.of(open), NanoClock.SYSTEM, log);
  }

  @Test
  void idleProcessEndsAfterAMoment() {
    try (Ends ends = open();
        Ends.Link link = ends.connect()) {
      assertTrue(of(ends, link.sender(), link.receiver()).await(PLENTY_NS, QUIET_NS));
      assertTrue(of(ends).await(PLENTY_NS, QUIET_NS));
    }
  }

  @Test
  void sendIsDrivenToItsLastAcknowledgement() {
    try (Ends ends = open();
        Ends.Link link = ends.connect()) {
      long from = ends.memory(LENGTH);
      long to = ends.memory(LENGTH);
      Ends.fill(from, LENGTH, 6);
      long toHandle = link.receiver().registerMemory(to, LENGTH, 1);
      long fromHandle = link.sender().registerMemory(from, LENGTH, 1);
      long receive = ends.receive(link, to, LENGTH, 1, toHandle);
      long send = Ends.send(link, from, LENGTH, 1, fromHandle);
      assertTrue(of(ends, link.sender()).await(PLENTY_NS, QUIET_NS), ends.log.toString());
      assertTrue(Ends.isDone(send));
      Ends.release(send);
      Ends.finish(link, receive);
      Ends.check(to, LENGTH, 6);
    }
  }

  @Test
  void pendingReceiveEndsTheWaitWithALogLine() {
    try (Ends ends = open();
        Ends.Link link = ends.connect()) {
      long to = ends.memory(64);
      long handle = link.receiver().registerMemory(to, 64, 1);
      assertTrue(ends.receive(link, to, 64, 1, handle) > 0);
      assertFalse(of(ends, link.sender(), link.receiver()).await(5 * QUIET_NS, QUIET_NS));
      String line = ends.line("the process ends");
      assertTrue(line.contains("receiving connection") && !line.contains("sending"), line);
    }
  }

  @Test
  void retriedSendIsWaitedFor() throws InterruptedException {
    try (Ends ends = open();
        Ends.Link link = ends.connect()) {
      long from = ends.memory(64);
      long to = ends.memory(64);
      long toHandle = link.receiver().registerMemory(to, 64, 1);
      long fromHandle = link.sender().registerMemory(from, 64, 1);
      AtomicBoolean stop = new AtomicBoolean();
      long[] send = new long[1];
      Thread tries =
          new Thread(() -> {
            while (!stop.get() && send[0] == 0) {
              send[0] = link.sender().isend(from, 64, 1, fromHandle);
            }
          });
      tries.start();
      /* Without a receive the send can't succeed, however long it is retried. */
      assertFalse(of(ends, link.sender()).await(100 * QUIET_NS, 10 * QUIET_NS));
      long receive = ends.receive(link, to, 64, 1, toHandle);
      assertTrue(of(ends, link.sender(), link.receiver()).await(PLENTY_NS, QUIET_NS));
      stop.set(true);
      tries.join();
      assertTrue(Ends.isDone(send[0]));
      assertTrue(Ends.isDone(receive));
      Ends.release(send[0]);
      Ends.release(receive);
    }
  }

  @Test
  void failedConnectionIsNotWaitedFor() {
    try (Ends ends = open();
        Ends.Link link = ends.connect()) {
      long to = ends.memory(64);
      long handle = link.receiver().registerMemory(to, 64, 1);
      long receive = ends.receive(link, to, 64, 1, handle);
      link.receiver().baton().spinUntilTaken();
      link.receiver().fail(TransportResult.REMOTE_ERROR, "it can't go on");
      link.receiver().baton().release();
      assertTrue(of(ends, link.receiver()).await(PLENTY_NS, QUIET_NS));
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(receive));
    }
  }

  /** Another thread may close connections after the list of open ones was made. */
  @Test
  void connectionClosedMeanwhileIsNotTouched() {
    try (Ends ends = open()) {
      Ends.Link link = ends.connect();
      List<Communicator> listed = List.of(link.sender(), link.receiver());
      ShutdownDrain last =
          new ShutdownDrain(
              () -> {
                if (isOpen(ends)) {
                  link.close();
                  Ends.await("end of the connection", () -> !isOpen(ends));
                }
                return listed;
              },
              NanoClock.SYSTEM,
              (level, sentence) -> {});
      assertTrue(last.await(PLENTY_NS, QUIET_NS));
    }
  }

  private static boolean isOpen(Ends ends) {
    return Stream.of(ends.left, ends.right)
        .flatMap(end -> end.devices().stream())
        .anyMatch(device -> !device.connections().isEmpty());
  }
}
