package io.heddle.bridge.infiniband;

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
 * Map from the hosts of an InfiniBand subnet to their ports. Hosts have IPoIB addresses, ports have
 * GIDs, and packets have LIDs. RDMA CM resolves a host's address to a path record, which contains
 * the GID and the LID of the host's port.
 *
 * <p>A LID may be reassigned to another port. So a path is requested again after {@link
 * #REFRESH_NS}, and all paths become unknown once the subnet may have changed. No packet is sent to
 * an unknown host, or accepted from it.
 *
 * <p>Writers hold this object's monitor. Readers, the data thread included, don't.
 */
public final class SubnetHosts {
  /** Interval of requests for a known path. */
  public static final long REFRESH_NS = 10_000_000_000L;

  /** Interval of requests for an unknown path. */
  public static final long RETRY_NS = 1_000_000_000L;

  /* Number of the LIDs of ports; the multicast LIDs follow them. */
  private static final int LIDS = 0xc000;
  private static final int MEMBERSHIP = 0x8000;

  private final Gid source;
  private final int partitionKey;
  private final Map<Gid, Host> hosts = new ConcurrentHashMap<>();
  private final AtomicReferenceArray<@Nullable Gid> ports = new AtomicReferenceArray<>(LIDS);
  private final Set<Integer> lids = new HashSet<>();
  private Runnable onChange = () -> {};
  private volatile int moves;

  private static final class Host {
    private volatile @Nullable HostPath path;
    /* This field and the next one are guarded by the monitor of the SubnetHosts object. */
    private boolean isDue = true;
    private long requestedNs;
  }

  /**
   * @param source the bridge's own IPoIB address
   * @param partitionKey partition key of the bridge's queue pairs
   */
  public SubnetHosts(Gid source, int partitionKey) {
    this.source = source;
    this.partitionKey = partitionKey;
  }

  /** Returns the source address of path requests. */
  public Gid source() {
    return source;
  }

  /** Sets an action that runs after each change, on the thread that made it. */
  public synchronized void onChange(Runnable then) {
    onChange = then;
  }

  /** Keeps the path of a host up to date from now on. */
  public synchronized void track(Gid address) {
    hosts.computeIfAbsent(address, unknown -> new Host());
  }

  /** Returns the hosts whose paths are due for a request, and marks them as requested. */
  public synchronized List<Gid> due(long nowNs) {
    List<Gid> due = new ArrayList<>();
    hosts.forEach((address, host) -> {
      long after = host.path == null ? RETRY_NS : REFRESH_NS;
      if (host.isDue || nowNs - host.requestedNs >= after) {
        due.add(address);
        markRequested(host, nowNs);
      }
    });
    return due;
  }

  private static void markRequested(Host host, long nowNs) {
    host.isDue = false;
    host.requestedNs = nowNs;
  }

  /**
   * Stores a path from the subnet manager.
   *
   * @return the reason why the path can't be used, in words; empty if it can be used
   */
  public synchronized String learn(Gid address, HostPath path, long nowNs) {
    Host host = hosts.computeIfAbsent(address, unknown -> new Host());
    markRequested(host, nowNs);
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
      invalidateNeighbours(host, path);
      if (old != null && !old.port().equals(path.port())) {
        moves++;
      }
      change(host, path);
    }
    return "";
  }

  /*
   * Invalidates known paths that contradict a new one. A path to the same port by another LID
   * becomes due. A path to another port by the same LID is dropped, since two ports don't share a
   * LID.
   */
  private void invalidateNeighbours(Host host, HostPath path) {
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
    onChange.run();
  }

  /**
   * Handles a failed path request.
   *
   * @param silent whether no answer arrived. Without a subnet manager LIDs don't change, so a known
   *     path then stays valid
   */
  public synchronized void fail(Gid address, boolean silent) {
    Host host = hosts.get(address);
    if (host != null && host.path != null && !silent) {
      change(host, null);
    }
  }

  /**
   * Invalidates all paths, since LIDs may have been reassigned. All paths become due for a request.
   */
  public synchronized void invalidateAll() {
    hosts.forEach((address, host) -> {
      host.path = null;
      host.isDue = true;
    });
    changed();
  }

  /** Returns the path to a host; null while it is unknown. */
  public @Nullable HostPath pathTo(Gid address) {
    Host host = hosts.get(address);
    return host == null ? null : host.path;
  }

  /** Returns the GID of the port that has a host's address; null while it is unknown. */
  public @Nullable Gid portOf(Gid address) {
    HostPath path = pathTo(address);
    return path == null ? null : path.port();
  }

  /** Returns the GID of the port that has a LID; null while it is unknown. */
  public @Nullable Gid portOfLid(int lid) {
    return lid < LIDS ? ports.getAcquire(lid) : null;
  }

  /** Returns how often a host's address has moved to another port. */
  public int moves() {
    return moves;
  }
}
