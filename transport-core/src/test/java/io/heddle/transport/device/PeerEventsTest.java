package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Log;
import io.heddle.transport.device.PeerEvents.Kind;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerEventsTest {
  private static final long QUIET_NS = 2_000_000_000;

  private final List<String> logged = new ArrayList<>();
  private final Log log = (level, sentence) -> logged.add(level + " " + sentence);
  private long nowNs = 5;
  private final PeerEvents events = new PeerEvents(() -> nowNs);

  private void raise(Kind kind, int connection, String peer) {
    events.report(kind, connection, peer, log, List.of(kind + " " + connection));
  }

  @Test
  void oneOfManyFailuresIsLoggedAndTheOthersAreCounted() {
    for (int i = 0; i < 64; i++) {
      raise(Kind.FAILED, i, "a");
    }
    assertEquals("WARN FAILED 0", logged.getFirst());
    assertEquals("TRACE FAILED 63", logged.getLast());
    logged.clear();
    nowNs += QUIET_NS - 1;
    events.flushQuiet();
    assertEquals(List.of(), logged);
    nowNs++;
    events.flushQuiet();
    assertEquals(List.of("INFO a: and 63 more connections to this peer failed"), logged);
    events.flushQuiet();
    assertEquals(1, logged.size());
  }

  @Test
  void eachPeerAndEachKindIsASeparateEvent() {
    raise(Kind.FAILED, 1, "a");
    raise(Kind.FAILED, 2, "b");
    raise(Kind.CHANNEL_REPLACED, 1, "a");
    assertEquals(List.of("WARN FAILED 1", "WARN FAILED 2", "INFO CHANNEL_REPLACED 1"), logged);
    events.end();
    assertEquals(3, logged.size());
  }

  @Test
  void distinctReasonIsLoggedInFull() {
    events.report(Kind.FAILED, 1, "a", log, List.of("failed: the peer is gone for 5 ms"));
    events.report(Kind.FAILED, 2, "a", log, List.of("failed: its completion queue overran"));
    events.report(Kind.FAILED, 3, "a", log, List.of("failed: the peer is gone for 7 ms"));
    assertEquals(
        List.of(
            "WARN failed: the peer is gone for 5 ms",
            "WARN failed: its completion queue overran",
            "TRACE failed: the peer is gone for 7 ms"),
        logged);
  }

  @Test
  void repetitionOnTheSameConnectionIsANewEvent() {
    raise(Kind.CHANNEL_REPLACED, 1, "a");
    raise(Kind.CHANNEL_REPLACED, 2, "a");
    raise(Kind.CHANNEL_REPLACED, 1, "a");
    assertEquals(
        List.of(
            "INFO CHANNEL_REPLACED 1",
            "TRACE CHANNEL_REPLACED 2",
            "INFO a: and 1 more connection to this peer replaced the control channel",
            "INFO CHANNEL_REPLACED 1"),
        logged);
  }

  @Test
  void laterEventIsLogged() {
    raise(Kind.FAILED, 1, "a");
    nowNs += QUIET_NS;
    events.flushQuiet();
    raise(Kind.FAILED, 2, "a");
    assertEquals(List.of("WARN FAILED 1", "WARN FAILED 2"), logged);
  }

  @Test
  void closingLogsTheCountedEvents() {
    raise(Kind.FAILED, 1, "a");
    raise(Kind.FAILED, 2, "a");
    raise(Kind.PLANE_OF_FAILED, 1, "a");
    raise(Kind.PLANE_OF_FAILED, 2, "a");
    logged.clear();
    events.end();
    assertEquals(List.of("INFO a: and 1 more connection to this peer failed"), logged);
  }

  /** The connections fail one after another, each within the quiet time of the previous one. */
  @Test
  void continuingEventKeepsNoClosedConnection() {
    List<WeakReference<Object>> connections = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Object connection = new Object();
      connections.add(new WeakReference<>(connection));
      events.report(Kind.FAILED, connection, "a", log, List.of("failed " + i));
      nowNs += QUIET_NS / 2;
      events.flushQuiet();
    }
    for (int i = 0; i < 100 && connections.stream().anyMatch(each -> each.get() != null); i++) {
      System.gc();
    }
    assertEquals(0, connections.stream().filter(each -> each.get() != null).count());
    logged.clear();
    events.end();
    assertEquals(List.of("INFO a: and 49 more connections to this peer failed"), logged);
  }

  @Test
  void failingPeerIsRememberedForAWhile() {
    raise(Kind.CHANNEL_PROBED, 1, "a");
    assertFalse(events.hasFailed("a"));
    raise(Kind.FAILED, 1, "a");
    assertTrue(events.hasFailed("a"));
    assertFalse(events.hasFailed("b"));
    nowNs += QUIET_NS;
    events.flushQuiet();
    assertFalse(events.hasFailed("a"));
  }
}
