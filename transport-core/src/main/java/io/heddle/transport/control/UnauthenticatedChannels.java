package io.heddle.transport.control;

import io.heddle.platform.NanoClock;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Channels at this process's listeners that haven't authenticated yet, bounded in time and in
 * number, both per process and per address. At the bound, the channel that has waited longest is
 * evicted, once it is old enough to have sent its first message. New connections wait in the kernel
 * until then. So a flood of silent connections costs a bounded number of descriptors, and peers
 * still get in. Control thread.
 */
final class UnauthenticatedChannels {
  /** Maximum number of unauthenticated channels at all listeners of a process. */
  static final int MOST = 384;

  /**
   * Maximum number of unauthenticated channels from one address; the peers of a large job may have
   * as many handshakes at a time.
   */
  static final int MAX_PER_ADDRESS = 192;

  /** Time limit of a channel's authentication, regardless of the bytes sent meanwhile. */
  static final long MAX_AGE_NS = 10_000_000_000L;

  /** Minimum age before eviction: a peer's first message takes less. */
  static final long MIN_AGE_NS = 50_000_000;

  static final long SWEEP_PERIOD_NS = 1_000_000_000;

  private final NanoClock clock;

  /* Unauthenticated channels, in all and by address, in order of arrival. */
  private final Set<ControlChannel> all = new LinkedHashSet<>();
  private final Map<InetAddress, Set<ControlChannel>> byAddress = new HashMap<>();

  UnauthenticatedChannels(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * Returns whether another channel from this address is admitted now; may evict an older one for
   * it.
   */
  boolean admits(InetAddress from) {
    Set<ControlChannel> there = byAddress.get(from);
    return hasRoom(there, MAX_PER_ADDRESS, " from one address")
        && hasRoom(all, MOST, " in this process");
  }

  private boolean hasRoom(@Nullable Set<ControlChannel> those, int most, String where) {
    if (those == null || those.size() < most) {
      return true;
    }
    ControlChannel oldest = those.iterator().next();
    oldest.readNow();
    if (those.size() >= most && clock.nanoTime() - oldest.sinceNs() >= MIN_AGE_NS) {
      evict(
          oldest,
          "didn't authenticate, and was one of " + most + " unauthenticated connections" + where);
    }
    return those.size() < most;
  }

  /**
   * Evicts the channel that has waited longest, to free its descriptor. Returns false if no channel
   * is left.
   */
  boolean evictOldest(String why) {
    Iterator<ControlChannel> oldest = all.iterator();
    boolean any = oldest.hasNext();
    if (any) {
      evict(oldest.next(), why);
    }
    return any;
  }

  private void evict(ControlChannel channel, String why) {
    remove(channel);
    channel.evict(why);
  }

  void add(ControlChannel channel) {
    all.add(channel);
    byAddress.computeIfAbsent(channel.remoteAddress(), none -> new LinkedHashSet<>()).add(channel);
  }

  /** Evicts expired channels, oldest first; called once a second. */
  void evictExpired() {
    long now = clock.nanoTime();
    while (!all.isEmpty() && now - all.iterator().next().sinceNs() >= MAX_AGE_NS) {
      evictOldest("showed no token within " + MAX_AGE_NS / 1_000_000 + " ms");
    }
  }

  /** Removes a channel that has authenticated or is gone. */
  void remove(ControlChannel channel) {
    if (all.remove(channel)) {
      Set<ControlChannel> there = byAddress.get(channel.remoteAddress());
      if (there != null && there.remove(channel) && there.isEmpty()) {
        byAddress.remove(channel.remoteAddress());
      }
    }
  }

  int count() {
    return all.size();
  }
}
