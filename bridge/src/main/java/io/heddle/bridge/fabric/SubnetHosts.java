package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * At which ports of an InfiniBand subnet hosts are. Hosts have addresses of IPoIB, ports have GIDs,
 * and packets have LIDs. A path record tells all three of one host.
 *
 * <p>A LID may become another port's. So a path is asked again after {@link #AGAIN_NS}, and all
 * count as unknown once the subnet may have changed. Nothing is sent to an unknown host, or taken
 * from it.
 *
 * <p>Changed with this object's monitor. Read without one, by the data thread too.
 */
public final class SubnetHosts {
  /** After so long a known path is asked again. */
  static final long AGAIN_NS = 10_000_000_000L;

  /** After so long an unknown one is. */
  static final long RETRY_NS = 1_000_000_000L;

  /* LIDs of ports; those of groups follow. */
  private static final int LIDS = 0xc000;
  private static final int MEMBERSHIP = 0x8000;

  private final Gid source;
  private final int partitionKey;
  private final Map<Gid, Host> hosts = new ConcurrentHashMap<>();
  private final AtomicReferenceArray<@Nullable Gid> ports = new AtomicReferenceArray<>(LIDS);
  private final Set<Integer> lids = new HashSet<>();
  private Runnable whenChanged = () -> {};
  private volatile int moves;

  private static final class Host {
    private volatile @Nullable HostPath path;
    /* Under the monitor. */
    private boolean isDue = true;
    private long askedNs;
  }

  /**
   * @param source the bridge's own address of IPoIB
   * @param partitionKey of its queue pairs
   */
  SubnetHosts(Gid source, int partitionKey) {
    this.source = source;
    this.partitionKey = partitionKey;
  }

  /** From where paths are asked. */
  Gid source() {
    return source;
  }

  /** Happens after each change, on the thread that made it. */
  synchronized void whenChanged(Runnable then) {
    whenChanged = then;
  }

  /** The path of a host is kept up to date from now on. */
  synchronized void want(Gid address) {
    hosts.computeIfAbsent(address, unknown -> new Host());
  }

  /** Hosts whose paths have to be asked now. They count as asked. */
  synchronized List<Gid> due(long nowNs) {
    List<Gid> due = new ArrayList<>();
    hosts.forEach((address, host) -> {
      long after = host.path == null ? RETRY_NS : AGAIN_NS;
      if (host.isDue || nowNs - host.askedNs >= after) {
        due.add(address);
        asked(host, nowNs);
      }
    });
    return due;
  }

  private static void asked(Host host, long nowNs) {
    host.isDue = false;
    host.askedNs = nowNs;
  }

  /**
   * The manager has told a path.
   *
   * @return why it can't be used, in words; empty where it can
   */
  synchronized String learn(Gid address, HostPath path, long nowNs) {
    Host host = hosts.computeIfAbsent(address, unknown -> new Host());
    asked(host, nowNs);
    boolean fits =
        path.lid() > 0
            && path.lid() < LIDS
            && ((path.partitionKey() ^ partitionKey) & ~MEMBERSHIP) == 0;
    HostPath old = host.path;
    if (!fits) {
      change(host, null);
      return String.format(
          Locale.ROOT,
          "its path has LID 0x%x in partition 0x%04x, and the bridge's queue pairs are in 0x%04x",
          path.lid(),
          path.partitionKey(),
          partitionKey);
    }
    if (!path.equals(old)) {
      doubtNeighbours(host, path);
      if (old != null && !old.port().equals(path.port())) {
        moves++;
      }
      change(host, path);
    }
    return "";
  }

  /* Two ports don't share a LID. And where one has another LID, its other addresses have it too. */
  private void doubtNeighbours(Host host, HostPath path) {
    hosts.forEach((address, other) -> {
      HostPath known = other.path;
      if (other == host || known == null) {
        return;
      }
      if (known.port().equals(path.port())) {
        other.isDue |= known.lid() != path.lid();
      } else if (known.lid() == path.lid()) {
        other.path = null;
        other.isDue = true;
      }
    });
  }

  private void change(Host host, @Nullable HostPath path) {
    host.path = path;
    changed();
  }

  private void changed() {
    Set<Integer> now = new HashSet<>();
    hosts.forEach((address, host) -> {
      HostPath path = host.path;
      if (path != null) {
        now.add(path.lid());
        ports.set(path.lid(), path.port());
      }
    });
    lids.removeAll(now);
    lids.forEach(gone -> ports.set(gone, null));
    lids.clear();
    lids.addAll(now);
    whenChanged.run();
  }

  /**
   * A path wasn't found.
   *
   * @param silent nobody has answered: without a manager LIDs don't change, so a path that was
   *     known stays
   */
  synchronized void lose(Gid address, boolean silent) {
    Host host = hosts.get(address);
    if (host != null && host.path != null && !silent) {
      change(host, null);
    }
  }

  /** LIDs may be others' now: no path is known, and all have to be asked. */
  synchronized void doubtAll() {
    hosts.forEach((address, host) -> {
      host.path = null;
      host.isDue = true;
    });
    changed();
  }

  /** How packets get to a host; null while that isn't known. */
  @Nullable HostPath pathTo(Gid address) {
    Host host = hosts.get(address);
    return host == null ? null : host.path;
  }

  /** GID of the port that has a host's address; null while that isn't known. */
  public @Nullable Gid portOf(Gid address) {
    HostPath path = pathTo(address);
    return path == null ? null : path.port();
  }

  /** GID of the port that has a LID; null while that isn't known. */
  @Nullable Gid portAt(int lid) {
    return lid < LIDS ? ports.getAcquire(lid) : null;
  }

  /** How often a host's address has moved to another port. */
  public int moves() {
    return moves;
  }
}
