package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of connections that share their peer's signs of life. */
final class HeartbeatsTest {
  private static final InetAddress HERE = address("2001:db8::1");
  private static final InetAddress THERE = address("2001:db8::2");
  private static final InetAddress ELSEWHERE = address("2001:db8:1::2");

  private long nowNs;
  private final Heartbeats heartbeats = new Heartbeats(() -> nowNs);
  private final List<String> events = new ArrayList<>();

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private Heartbeats.Member member(String name) {
    return new Heartbeats.Member() {
      @Override
      public void sendPing() {
        events.add(name + " sends");
      }

      @Override
      public void onSilence() {
        events.add(name + " is silent");
      }
    };
  }

  private List<String> eventsOf(int beats) {
    events.clear();
    for (int i = 0; i < beats; i++) {
      nowNs += Heartbeats.BEAT_NS;
      heartbeats.beat();
    }
    return List.copyOf(events);
  }

  @Test
  void membersOfOnePathTakeTurns() {
    for (String name : List.of("a", "b", "c")) {
      heartbeats.join("peer", HERE, THERE, member(name));
    }
    assertEquals(List.of("a sends", "b sends", "c sends"), eventsOf(3));
  }

  @Test
  void signOfLifeCountsForAllMembersOfThePath() {
    Heartbeats.Heartbeat heartbeat = heartbeats.join("peer", HERE, THERE, member("a"));
    heartbeats.join("peer", HERE, THERE, member("b"));
    for (int i = 0; i < 10; i++) {
      heartbeat.heard();
      assertEquals(1, eventsOf(1).size());
    }
  }

  @Test
  void silenceIsReportedToAllMembersOfThePathOnly() {
    heartbeats.join("peer", HERE, THERE, member("a"));
    heartbeats.join("peer", HERE, THERE, member("b"));
    Heartbeats.Heartbeat other = heartbeats.join("peer", HERE, ELSEWHERE, member("c"));
    Heartbeats.Heartbeat another = heartbeats.join("another peer", HERE, THERE, member("d"));
    eventsOf(3);
    other.heard();
    another.heard();
    assertEquals(
        List.of("a is silent", "b is silent", "b sends", "c sends", "d sends"),
        eventsOf(1).stream().sorted().toList());
  }

  @Test
  void joiningCountsAsASignOfLife() {
    heartbeats.join("peer", HERE, THERE, member("a"));
    eventsOf(3);
    heartbeats.join("peer", HERE, THERE, member("b"));
    assertEquals(List.of("a sends"), eventsOf(1));
  }

  @Test
  void departedMemberIsSkippedAndAnEmptyPathIsForgotten() {
    Heartbeats.Member first = member("a");
    Heartbeats.Member second = member("b");
    Heartbeats.Heartbeat heartbeat = heartbeats.join("peer", HERE, THERE, first);
    heartbeats.join("peer", HERE, THERE, second);
    heartbeat.leave(first);
    assertEquals(List.of("b sends"), eventsOf(1));
    heartbeat.leave(second);
    assertEquals(List.of(), eventsOf(5));
    heartbeat.leave(second);
    heartbeats.join("peer", HERE, THERE, first);
    assertEquals(List.of("a sends"), eventsOf(1));
  }

  @Test
  void notifiedMemberMayLeaveAtOnce() {
    Heartbeats.Heartbeat[] heartbeat = new Heartbeats.Heartbeat[1];
    Heartbeats.Member leaves =
        new Heartbeats.Member() {
          @Override
          public void sendPing() {
            events.add("it sends");
          }

          @Override
          public void onSilence() {
            events.add("it leaves");
            heartbeat[0].leave(this);
          }
        };
    heartbeat[0] = heartbeats.join("peer", HERE, THERE, leaves);
    assertEquals(List.of("it sends", "it sends", "it sends", "it sends", "it leaves"), eventsOf(6));
  }
}
