package io.heddle.transport.control;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Heartbeats between this process and its peers. Control channels between the same two processes
 * over the same two addresses share a heartbeat. At each beat one of these channels, in turn, sends
 * a Ping; input on any of them counts for all. So an idle connection costs no messages of its own.
 * Control thread.
 *
 * <p>A single channel that no longer carries traffic is detected at its next message. The message
 * isn't acknowledged at once, and this end then probes the peer at its reconnect listeners.
 */
public final class Heartbeats {
  /** Period of the heartbeats, in ns. */
  static final long BEAT_NS = 500_000_000;

  public static final long SILENT_NS = 1_500_000_000;

  /** Owner of a channel. Its methods throw no exceptions. */
  public interface Member {
    /** Sends a Ping, when it is this channel's turn. */
    void sendPing();

    /** Handles silence: nothing has come for {@link #SILENT_NS} on any channel of the same path. */
    void onSilence();
  }

  private record ChannelPath(String peer, InetAddress here, InetAddress there) {}

  /** Heartbeat that the channels of one path share. */
  public final class Heartbeat {
    private final ChannelPath path;
    private final Set<Member> members = new LinkedHashSet<>();
    private long heardNs;

    private Heartbeat(ChannelPath path) {
      this.path = path;
    }

    /** Records that a channel of this path has received something. */
    public void heard() {
      heardNs = time.getAsLong();
    }

    /** Removes a member whose channel is gone or replaced. */
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
        List.copyOf(members).forEach(Member::onSilence);
      }
    }
  }

  private final LongSupplier time;
  private final Map<ChannelPath, Heartbeat> heartbeats = new HashMap<>();

  /**
   * @param time clock in ns, which pauses while this process doesn't run
   */
  Heartbeats(LongSupplier time) {
    this.time = time;
  }

  /**
   * Adds a channel to the heartbeat of its path. A channel that has just come up counts as a sign
   * of life.
   *
   * @param peer the other process's name
   */
  public Heartbeat join(String peer, ControlChannel channel, Member member) {
    return join(new ChannelPath(peer, channel.localAddress(), channel.remoteAddress()), member);
  }

  /** Adds a member to the heartbeat of the path between these addresses. */
  Heartbeat join(String peer, InetAddress here, InetAddress there, Member member) {
    return join(new ChannelPath(peer, here, there), member);
  }

  private Heartbeat join(ChannelPath path, Member member) {
    Heartbeat heartbeat = heartbeats.computeIfAbsent(path, Heartbeat::new);
    heartbeat.members.add(member);
    heartbeat.heard();
    return heartbeat;
  }

  /** Runs one beat; called every {@link #BEAT_NS}. */
  void beat() {
    List.copyOf(heartbeats.values()).forEach(Heartbeat::beat);
  }
}
