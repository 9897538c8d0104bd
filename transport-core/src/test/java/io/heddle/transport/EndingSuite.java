package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.ClearToSend;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.TransportResult;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of connections that end, in good order or by a failure. */
abstract class EndingSuite extends TruncationSuite {
  @Test
  void bothEndsCloseWithRequestsInFlight() {
    for (int who = 0; who < 2; who++) {
      try (Ends ends = ends()) {
        Ends.Link link = ends.connect();
        long to = ends.memory(1 << 20);
        long handle = link.receiver().registerMemory(to, 1 << 20, 1);
        long fromHandle = link.sender().registerMemory(to, 1 << 20, 1);
        for (int i = 0; i < 8; i++) {
          assertTrue(ends.receive(link, to, 1 << 20, 1, handle) > 0);
        }
        Ends.send(link, to, 1 << 20, 1, fromHandle);
        if (who == 0) {
          link.sender().close();
          link.receiver().close();
        } else {
          link.receiver().close();
          link.sender().close();
        }
        link.listener().close();
      }
    }
  }

  /** A process that aborts during connect never calls connect again, and has nothing to close. */
  @Test
  void unfetchedConnectionIsGivenUp() {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      assertNull(ends.left.connect(0, -1, handle));
      RecvComm[] receiver = new RecvComm[1];
      Ends.await(
          "the receiver",
          () -> {
            receiver[0] = ends.right.accept(listener);
            return receiver[0] != null;
          });
      ends.left.loop().execute(() -> ends.left.connector().abandonIdle(Long.MAX_VALUE));
      ends.left.loop().execute(() -> ends.left.connector().abandonIdle(0));
      ends.awaitLine("is abandoned");
      receiver[0].close();
      Ends.await(
          "the end of the connection",
          () ->
              Stream.of(ends.left, ends.right)
                  .allMatch(end -> end.devices().getFirst().connections().isEmpty()));
      assertThrows(HeddleException.class, () -> ends.left.connect(0, -1, handle));
      listener.close();
    }
  }

  @Test
  void aReceiverWhosePeerClosesBeforeSendingFailsWithARemoteError() {
    try (Ends ends = ends()) {
      Ends.Link link = ends.connect();
      long to = ends.memory(64);
      long handle = link.receiver().registerMemory(to, 64, 1);
      long receive = ends.receive(link, to, 64, 1, handle);
      link.sender().close();
      Ends.await("remote error", () -> link.receiver().progress() == TransportResult.REMOTE_ERROR);
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(receive));
      assertEquals(
          -TransportResult.REMOTE_ERROR,
          ends.receive(link, to, 64, 1, handle),
          "the failure is latched");
      ends.line("receiving connection");
      link.receiver().close();
      link.listener().close();
    }
  }

  @Test
  void failedReceiverNotifiesItsSenderAtOnce() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long from = ends.memory(1 << 20);
      long handle = link.receiver().registerMemory(from, 1 << 20, 1);
      long fromHandle = link.sender().registerMemory(from, 1 << 20, 1);
      ends.receive(link, from, 1 << 20, 1, handle);
      Ends.await(
          "clear-to-send",
          () -> {
            Ends.progress(link);
            return ClearToSend.isOf(link.sending().memory().ringAddress(), 0);
          });
      RecvComm receiver = link.receiver();
      receiver.baton().spinUntilTaken();
      receiver.fail(TransportResult.REMOTE_ERROR, "it can't go on");
      receiver.baton().release();
      Deadline deadline = Deadline.ofSeconds(5);
      Ends.await(
          "failure of the sender",
          () -> link.sender().isend(from, 1 << 20, 2, fromHandle) == -TransportResult.REMOTE_ERROR);
      assertFalse(deadline.isOver(), "notified at once");
      assertEquals(TransportResult.REMOTE_ERROR, receiver.progress());
      String logLine = ends.line("sending connection");
      assertTrue(logLine.contains("the other end failed: it can't go on"), logLine);
      ends.line("receiving connection");
    }
  }

  @Test
  void failedSenderNotifiesItsReceiver() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long from = ends.memory(1000);
      long handle = link.receiver().registerMemory(from, 1000, 1);
      long receive = ends.receive(link, from, 500, 1, handle);
      SendComm sender = link.sender();
      sender.baton().spinUntilTaken();
      sender.fail(TransportResult.REMOTE_ERROR, "it can't go on");
      sender.baton().release();
      Ends.await(
          "failure of the receiver",
          () -> link.receiver().progress() == TransportResult.REMOTE_ERROR);
      assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(receive));
      assertTrue(
          ends.line("receiving connection").contains("the other end failed: it can't go on"));
    }
  }

  @Test
  void pendingSendsCompleteAfterAnotherFindsThePeerClosed() {
    try (Ends ends = ends()) {
      Ends.Link link = ends.connect();
      int length = 200_000;
      long from = ends.memory(length);
      long to = ends.memory(length);
      Ends.fill(from, length, 4);
      long handle = link.receiver().registerMemory(to, length, 1);
      long fromHandle = link.sender().registerMemory(from, length, 1);
      long receive = ends.receive(link, to, length, 1, handle);
      long send = Ends.send(link, from, length, 1, fromHandle);
      Ends.await(
          "completion of the receive",
          () -> {
            Ends.progress(link);
            return Ends.isDone(receive);
          });
      link.receiver().close();
      ConnectionHealth health = link.sending().health();
      Ends.await("the goodbye", () -> health.peer() == ConnectionHealth.Peer.CLOSED);
      assertEquals(0, link.sender().isend(from, length, 2, fromHandle), "would block");
      Ends.await(
          "completion of the send",
          () -> {
            assertEquals(0, link.sender().progress(), ends.log.toString());
            return Ends.isDone(send);
          });
      Ends.check(to, length, 4);
      link.sender().close();
      link.listener().close();
    }
  }

  @Test
  void dataSentBeforeAGracefulCloseStillCompletes() {
    try (Ends ends = ends()) {
      for (int round = 0; round < 20; round++) {
        Ends.Link link = ends.connect();
        int length = 200_000;
        long from = ends.memory(length);
        long to = ends.memory(length);
        Ends.fill(from, length, round);
        long handle = link.receiver().registerMemory(to, length, 1);
        long fromHandle = link.sender().registerMemory(from, length, 1);
        long receive = ends.receive(link, to, length, 1, handle);
        long send = Ends.send(link, from, length, 1, fromHandle);
        Ends.await(
            "completion of the send",
            () -> {
              assertEquals(0, link.sender().progress());
              return Ends.isDone(send);
            });
        link.sender().close();
        Ends.await(
            "completion of the receive",
            () -> {
              assertEquals(0, link.receiver().progress(), ends.log.toString());
              return Ends.isDone(receive);
            });
        Ends.check(to, length, round);
        link.receiver().close();
        link.listener().close();
      }
    }
  }

  /** Method by which a receiver takes its buffer back. */
  enum TakenBack {
    DEREGISTERED,
    CLOSED,
    DEREGISTERED_AND_CLOSED
  }

  /*
   * Another connection has the same buffer registered, and a thread drives the device. So bytes are
   * being placed at the moment in which the buffer is taken back.
   */
  @ParameterizedTest
  @EnumSource(TakenBack.class)
  void noByteLandsInADeregisteredBuffer(TakenBack how) throws Exception {
    noByteLands(how, lateBytes(), Map.of());
  }

  final void noByteLands(TakenBack how, int length, Map<String, String> more) throws Exception {
    Ends.repeatUntilInterrupted(() -> isBufferTakenBackInMidMessage(how, length, more));
  }

  /* Returns false if the message arrived before its buffer was taken back, on a busy machine. */
  private boolean isBufferTakenBackInMidMessage(TakenBack how, int length, Map<String, String> more)
      throws Exception {
    boolean midMessage;
    try (Ends ends = ends(FOUR, FOUR, more);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Ends.Link other = ends.connect();
      Ends.Link link = ends.connect();
      long from = ends.memory(length);
      long to = ends.memory(length);
      fill(from, length, 1);
      other.receiver().registerMemory(to, length, 1);
      long fromHandle = link.sender().registerMemory(from, length, 1);
      long handle = link.receiver().registerMemory(to, length, 1);
      long receive = ends.receive(link, to, length, 1, handle);
      long second = ends.receive(link, to, length, 2, handle);
      long send = Ends.send(link, from, length, 1, fromHandle);
      AtomicBoolean over = new AtomicBoolean();
      Future<?> moving =
          threads.submit(() -> {
            while (!over.get()) {
              link.sender().progress();
              other.receiver().progress();
            }
          });
      try {
        Ends.await("the first byte", () -> Memory.getLong(to) != 0);
        if (how != TakenBack.CLOSED) {
          assertEquals(0, link.receiver().deregisterMemory(handle));
        }
        if (how != TakenBack.DEREGISTERED) {
          link.receiver().close();
        }
        fill(to, length, 2);
        Ends.await("the end of the send", () -> Ends.state(send) != 0);
        midMessage = Ends.state(send) < 0;
        if (midMessage) {
          assertEquals(-TransportResult.REMOTE_ERROR, Ends.state(send), ends.log::toString);
          /*
           * The other thread may hold the connection's baton; then a call does nothing and returns
           * 0.
           */
          Ends.await("an answer", () -> link.sender().isend(from, length, 2, fromHandle) != 0);
          AtomicInteger failure = new AtomicInteger();
          Ends.await(
              "the failure of the sender",
              () -> failure.updateAndGet(before -> link.sender().progress()) != 0);
          assertEquals(TransportResult.REMOTE_ERROR, failure.get());
        }
        if (how == TakenBack.DEREGISTERED) {
          if (midMessage) {
            Ends.await("the failure of the receiver", () -> link.receiver().progress() != 0);
            assertTrue(Ends.state(receive) < 0 && Ends.state(second) < 0);
          }
          link.receiver().close();
        }
      } finally {
        over.set(true);
        Deadline.ofSeconds(20).get(moving);
      }
      assertEquals(0, bytesBut(to, length, 2), "bytes that were overwritten");
      /* Other connections are not affected. */
      ends.exchange(other, 100_000, 100_000, 5);
      link.sender().close();
      link.listener().close();
      other.close();
    }
    return midMessage;
  }

  /** Returns a length whose transfer takes a while. */
  abstract int lateBytes();

  private static void fill(long address, int lengthBytes, int value) {
    Memory.ALL.asSlice(address, lengthBytes).fill((byte) value);
  }

  /* Counts the bytes that differ from the value, word by word. */
  private static int bytesBut(long address, int lengthBytes, int value) {
    long expected = value * 0x0101_0101_0101_0101L;
    int words = 0;
    for (int at = 0; at < lengthBytes; at += Long.BYTES) {
      words += Memory.getLong(address + at) == expected ? 0 : 1;
    }
    return words * Long.BYTES;
  }

  /*
   * The receiver's clear-to-send entry is still in the sender's ring, and the buffer's key is
   * valid.
   */
  @Test
  void sendAfterTheReceiverHasClosedFails() {
    try (Ends ends = ends()) {
      Ends.Link link = ends.connect();
      long from = ends.memory(1000);
      long to = ends.memory(1000);
      fill(from, 1000, 1);
      long handle = link.receiver().registerMemory(to, 1000, 1);
      long fromHandle = link.sender().registerMemory(from, 1000, 1);
      ends.receive(link, to, 1000, 1, handle);
      Ends.await(
          "clear-to-send",
          () -> {
            Ends.progress(link);
            return ClearToSend.isOf(link.sending().memory().ringAddress(), 0);
          });
      link.receiver().close();
      ConnectionHealth health = link.sending().health();
      Ends.await("the goodbye", () -> health.peer() == ConnectionHealth.Peer.CLOSED);
      assertEquals(-TransportResult.REMOTE_ERROR, link.sender().isend(from, 1000, 1, fromHandle));
      assertTrue(ends.line("sending connection").contains("it closed its end"));
      assertEquals(0, bytesBut(to, 1000, 0), "bytes that were overwritten");
      link.sender().close();
      link.listener().close();
    }
  }
}
