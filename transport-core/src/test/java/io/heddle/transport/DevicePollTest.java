package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RecvComm;
import io.heddle.verbs.DeviceContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of how often callers poll the device, on soft devices over IPv4 loopback. */
class DevicePollTest {
  private static final int MOST_POLLS = 1000;

  /* Offsets in struct heddle_comm. */
  private static final int EVENTS = 32;
  private static final int POLLS = 48;

  @TempDir private Path folder;

  @Test
  void roundOverSeveralConnectionsPollsOnce() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        Ends.Link third = ends.connect()) {
      DeviceContext device = first.receiving().device().context();
      List<RecvComm> receivers = List.of(first.receiver(), second.receiver(), third.receiver());
      receivers.forEach(receiver -> assertEquals(0, receiver.progress()));
      int rounds = 0;
      int polls = 0;
      Deadline deadline = Deadline.ofSeconds(20);
      /* While another thread polls the device, these calls don't poll it. */
      while (polls < MOST_POLLS) {
        for (RecvComm receiver : receivers) {
          polls += pollsOf(device, receiver);
        }
        rounds++;
        assertFalse(deadline.isOver(), "polls: " + polls);
      }
      assertTrue(rounds > MOST_POLLS * 0.9, "rounds for 1000 polls: " + rounds);
    }
  }

  @Test
  void singleConnectionIsPolledOnItsOwn() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      DeviceContext device = link.receiving().device().context();
      int polls = 0;
      Deadline deadline = Deadline.ofSeconds(20);
      while (polls < MOST_POLLS) {
        polls += pollsOf(device, link.receiver());
        assertFalse(deadline.isOver(), "polls: " + polls);
      }
    }
  }

  /* The shim decides by the counter of events whether it calls Java for a connection. */
  @Test
  void completionsFoundByAnotherPollAreSignalledToTheirConnection() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      long from = ends.memory(64);
      long to = ends.memory(64);
      long fromHandle = link.sender().registerMemory(from, 64, 1);
      long toHandle = link.receiver().registerMemory(to, 64, 1);
      long receive = ends.receive(link, to, 64, 1, toHandle);
      Ends.await("progress of both", () -> settled(link) && settled(idle));
      long eventsBefore = line(link.receiver(), EVENTS);
      long idleBefore = line(idle.receiver(), EVENTS);
      long send = ends.send(link, from, 64, 1, fromHandle);
      Ends.await(
          "events",
          () -> {
            assertEquals(0, idle.receiver().progress());
            return line(link.receiver(), EVENTS) != eventsBefore;
          });
      assertEquals(idleBefore, line(idle.receiver(), EVENTS), "nothing has come for the other one");
      assertEquals(0, Memory.getIntAcquire(receive), "done without its progress");
      Ends.await(
          "end of both requests",
          () -> {
            assertEquals(0, link.receiver().progress());
            assertEquals(0, link.sender().progress());
            return Memory.getIntAcquire(receive) == 1 && Memory.getIntAcquire(send) == 1;
          });
      long polls = line(link.receiver(), POLLS);
      assertEquals(
          link.receiving().device().context().progressedAtNs(), Memory.getLong(polls), "the polls");
    }
  }

  /* Polls the completions that are left from the set-up. Returns whether there were none. */
  private static boolean settled(Ends.Link link) {
    long before = line(link.receiver(), EVENTS);
    link.sender().progress();
    link.receiver().progress();
    return line(link.receiver(), EVENTS) == before;
  }

  private static long line(Communicator end, int offset) {
    return Memory.getLong(end.address() + offset);
  }

  private static int pollsOf(DeviceContext device, RecvComm receiver) {
    long before = device.progressedAtNs();
    assertEquals(0, receiver.progress());
    return device.progressedAtNs() == before ? 0 : 1;
  }
}
