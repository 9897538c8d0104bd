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
 * Those at the listeners of this process who haven't shown yet that they are peers: how many may
 * wait, in all and from one address, and for how long. Where there are as many, the one that has
 * waited longest goes, once it has had a moment for its first words, and newcomers wait in the
 * kernel until then. So whoever fills the doors with connections that say nothing costs a bounded
 * number of descriptors, and a peer comes in beside it. Control thread.
 */
final class UnauthenticatedChannels {
  /** Of one process, over all its listeners and doors. */
  static final int MOST = 384;

  /** From one address: peers of a large job have as many handshakes at a time, and say hello. */
  static final int MAX_PER_ADDRESS = 192;

  /** How long who connects has to show a token, however many bytes it says meanwhile. */
  static final long MAX_AGE_NS = 10_000_000_000L;

  /** Nobody is sent away sooner: a peer's first words are on the way for less. */
  static final long MIN_AGE_NS = 50_000_000;

  static final long SWEEP_PERIOD_NS = 1_000_000_000;

  private final NanoClock clock;

  /* In order of their coming, each. */
  private final Set<ControlChannel> all = new LinkedHashSet<>();
  private final Map<InetAddress, Set<ControlChannel>> byAddress = new HashMap<>();

  UnauthenticatedChannels(NanoClock clock) {
    this.clock = clock;
  }

  /** Whether one more may come from this address, by now; somebody else may have to go for it. */
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
    oldest.hear();
    if (those.size() >= most && clock.nanoTime() - oldest.sinceNs() >= MIN_AGE_NS) {
      evict(oldest, "said nothing that a peer says, and was one of " + most + " strangers" + where);
    }
    return those.size() < most;
  }

  /** Whoever has waited longest goes, for its descriptor; false where nobody waits. */
  boolean evictOldest(String why) {
    Iterator<ControlChannel> oldest = all.iterator();
    boolean any = oldest.hasNext();
    if (any) {
      evict(oldest.next(), why);
    }
    return any;
  }

  private void evict(ControlChannel channel, String why) {
    forget(channel);
    channel.evict(why);
  }

  void add(ControlChannel channel) {
    all.add(channel);
    byAddress.computeIfAbsent(channel.there(), none -> new LinkedHashSet<>()).add(channel);
  }

  /** Whose time is over goes. They are in order; called once a second. */
  void judge() {
    long now = clock.nanoTime();
    while (!all.isEmpty() && now - all.iterator().next().sinceNs() >= MAX_AGE_NS) {
      evictOldest("showed no token within " + MAX_AGE_NS / 1_000_000 + " ms");
    }
  }

  /** It is no stranger any more, or gone. */
  void forget(ControlChannel channel) {
    if (all.remove(channel)) {
      Set<ControlChannel> there = byAddress.get(channel.there());
      if (there != null && there.remove(channel) && there.isEmpty()) {
        byAddress.remove(channel.there());
      }
    }
  }

  int count() {
    return all.size();
  }
}
