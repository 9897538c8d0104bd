package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.Log;
import io.heddle.platform.testing.Deadline;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/** Listener that records the events as text, one line each, and the UPDATE messages. */
public final class RecordingListener implements SessionListener {
  public final List<String> events = new CopyOnWriteArrayList<>();
  public final List<UpdateMessage> updates = new CopyOnWriteArrayList<>();
  public final List<String> log = new CopyOnWriteArrayList<>();

  /** Error to throw at the next update; null for none. */
  public volatile Error breakBy;

  public Log logTo() {
    return (level, sentence) -> log.add(sentence);
  }

  @Override
  public void established(PeerSession session, Negotiated negotiated) {
    events.add("established " + negotiated.peerAs());
  }

  @Override
  public void update(PeerSession session, UpdateMessage update) {
    Error error = breakBy;
    if (error != null) {
      breakBy = null;
      throw error;
    }
    updates.add(update);
  }

  @Override
  public void endOfRib(PeerSession session, AddressFamily family) {
    events.add("end of rib" + of(family));
  }

  @Override
  public void markRoutesStale(PeerSession session, AddressFamily family) {
    events.add("stale" + of(family));
  }

  @Override
  public void dropStaleRoutes(PeerSession session, AddressFamily family) {
    events.add("drop stale" + of(family));
  }

  @Override
  public void down(PeerSession session, SessionEnd end) {
    StringBuilder event = new StringBuilder("down " + end.cause());
    end.kept().forEach(family -> event.append(" kept").append(of(family)));
    events.add(event.toString());
  }

  private static String of(AddressFamily family) {
    return family.equals(AddressFamily.IPV6_UNICAST) ? "" : " " + family;
  }

  @Override
  public void attemptFailed(PeerSession session, SessionEnd end) {
    events.add("failed " + end.cause() + ": " + end.why());
  }

  public boolean has(String beginning) {
    return events.stream().anyMatch(event -> event.startsWith(beginning));
  }

  public void awaitEvent(String beginning) {
    await("event " + beginning, () -> has(beginning));
  }

  public void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (!condition.getAsBoolean()) {
      assertTrue(!deadline.isOver(), what + " timed out; events: " + events + " " + log);
      java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
    }
  }
}
