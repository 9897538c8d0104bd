package io.heddle.transport.control;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Signs of life between this process and its peers. Control channels between the same two processes
 * by the same two addresses share them: at each beat one of these, in turn, says where it is, and
 * what any of them hears is heard by all. So a connection that is idle costs no messages of its
 * own. Control thread.
 *
 * <p>A single channel that carries nothing any more is found when something is to be said on it,
 * since that is acknowledged at once, or else it is asked for at the peer's doors.
 */
public final class Heartbeats {
  /** From one beat to the next. */
  static final long BEAT_NS = 500_000_000;

  public static final long SILENT_NS = 1_500_000_000;

  /** Whoever has one of the channels. What its methods throw is its own to deal with. */
  public interface Member {
    /** Its turn to show the peer that this process lives. */
    void sendPing();

    /** Nothing has come for {@link #SILENT_NS} by any channel that goes the same way. */
    void silent();
  }

  private record Way(String peer, InetAddress here, InetAddress there) {}

  /** What the channels of one way share. */
  public final class Pulse {
    private final Way way;
    private final Set<Member> members = new LinkedHashSet<>();
    private long heardNs;

    private Pulse(Way way) {
      this.way = way;
    }

    /** A channel has brought something. */
    public void heard() {
      heardNs = time.getAsLong();
    }

    /** This one's channel is gone, or another is in its place. */
    public void leave(Member member) {
      if (members.remove(member) && members.isEmpty()) {
        pulses.remove(way);
      }
    }

    private void beat() {
      if (members.isEmpty()) {
        return;
      }
      Member next = members.iterator().next();
      members.remove(next);
      members.add(next);
      next.sendPing();
      if (time.getAsLong() - heardNs > SILENT_NS) {
        List.copyOf(members).forEach(Member::silent);
      }
    }
  }

  private final LongSupplier time;
  private final Map<Way, Pulse> pulses = new HashMap<>();

  /**
   * @param time in ns, which stands still while this process has no processor
   */
  Heartbeats(LongSupplier time) {
    this.time = time;
  }

  /**
   * This one's channel shares the pulse of its way from now on; that it has come up is a sign of
   * life.
   *
   * @param peer the other process's name
   */
  public Pulse join(String peer, ControlChannel channel, Member member) {
    return join(new Way(peer, channel.here(), channel.there()), member);
  }

  /** The same of a way between these addresses. */
  Pulse join(String peer, InetAddress here, InetAddress there, Member member) {
    return join(new Way(peer, here, there), member);
  }

  private Pulse join(Way way, Member member) {
    Pulse pulse = pulses.computeIfAbsent(way, Pulse::new);
    pulse.members.add(member);
    pulse.heard();
    return pulse;
  }

  /** Every {@link #BEAT_NS}. */
  void beat() {
    List.copyOf(pulses.values()).forEach(Pulse::beat);
  }
}
