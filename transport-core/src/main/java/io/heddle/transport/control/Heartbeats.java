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

  private record ChannelPath(String peer, InetAddress here, InetAddress there) {}

  /** What the channels of one way share. */
  public final class Heartbeat {
    private final ChannelPath path;
    private final Set<Member> members = new LinkedHashSet<>();
    private long heardNs;

    private Heartbeat(ChannelPath path) {
      this.path = path;
    }

    /** A channel has brought something. */
    public void heard() {
      heardNs = time.getAsLong();
    }

    /** This one's channel is gone, or another is in its place. */
    public void leave(Member member) {
      if (members.remove(member) && members.isEmpty()) {
        heartbeats.remove(path);
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
  private final Map<ChannelPath, Heartbeat> heartbeats = new HashMap<>();

  /**
   * @param time in ns, which stands still while this process has no processor
   */
  Heartbeats(LongSupplier time) {
    this.time = time;
  }

  /**
   * This one's channel shares the heartbeat of its way from now on; that it has come up is a sign
   * of life.
   *
   * @param peer the other process's name
   */
  public Heartbeat join(String peer, ControlChannel channel, Member member) {
    return join(new ChannelPath(peer, channel.here(), channel.there()), member);
  }

  /** The same of a way between these addresses. */
  Heartbeat join(String peer, InetAddress here, InetAddress there, Member member) {
    return join(new ChannelPath(peer, here, there), member);
  }

  private Heartbeat join(ChannelPath path, Member member) {
    Heartbeat heartbeat = heartbeats.computeIfAbsent(path, Heartbeat::new);
    heartbeat.members.add(member);
    heartbeat.heard();
    return heartbeat;
  }

  /** Every {@link #BEAT_NS}. */
  void beat() {
    List.copyOf(heartbeats.values()).forEach(Heartbeat::beat);
  }
}
