package io.heddle.bridge.infiniband;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Resolver of paths to hosts of InfiniBand by RDMA CM. Each request has its own rdma_cm_id. The
 * event of an incoming request has no path (cma_ib_new_udp_id), so the path to the client is
 * resolved here. Used by the thread of {@link RdmaCmSidrService}.
 */
final class RdmaCmPaths {
  private static final int RESOLVE_MS = 2000;
  private static final int PEER_AT = 32;
  private static final int BUFFER_BYTES = 64;

  private final SubnetHosts hosts;
  private final RdmaCmChannel channel;
  private final String device;
  private final Consumer<String> report;
  private final long buffer;
  private final Map<Long, Gid> pending = new HashMap<>();
  private final Map<Gid, List<Runnable>> waiting = new HashMap<>();

  /**
   * @param hosts map that stores the paths
   * @param channel event channel for the answers
   * @param report receives the fault of a host, in words
   */
  RdmaCmPaths(
      SubnetHosts hosts,
      RdmaCmChannel channel,
      String device,
      Arena arena,
      Consumer<String> report) {
    this.hosts = hosts;
    this.channel = channel;
    this.device = device;
    this.report = report;
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
  }

  /** Requests the paths that are due. */
  void round(long nowNs) {
    hosts.due(nowNs).forEach(this::request);
  }

  /** Requests a host's path, whether it is known or not, and runs an action after the answer. */
  void find(Gid host, Runnable then) {
    hosts.track(host);
    List<Runnable> others = waiting.get(host);
    if (others == null) {
      waiting.put(host, new ArrayList<>(List.of(then)));
      request(host);
    } else {
      others.add(then);
    }
  }

  private void request(Gid host) {
    long id = channel.tryCreateId();
    if (id < 0) {
      report.accept("no path can be requested on " + device + ": " + Errno.describe((int) -id));
      answered(host);
      return;
    }
    pending.put(id, host);
    RdmaSocketAddress.write(buffer, hosts.source(), 0);
    RdmaSocketAddress.write(buffer + PEER_AT, host, 0);
    int refused = RdmaCm.RESOLVE_ADDR.status(id, buffer, buffer + PEER_AT, RESOLVE_MS);
    if (refused < 0) {
      fail(id, host, "its address can't be resolved", refused, false);
    }
  }

  /** Handles an event; returns false if it belongs to no path request. */
  boolean take(RdmaCmEvent event) {
    long id = event.id();
    int status = event.status();
    Gid host = pending.get(id);
    if (host == null) {
      return false;
    }
    switch (event.kind()) {
      case RdmaCm.ADDRESS_RESOLVED -> {
        int refused = RdmaCm.RESOLVE_ROUTE.status(id, RESOLVE_MS);
        if (refused < 0) {
          fail(id, host, "its route can't be resolved", refused, false);
        }
      }
      case RdmaCm.ROUTE_RESOLVED -> {
        learn(id, host);
        end(id, host);
      }
      case RdmaCm.ADDRESS_ERROR -> fail(id, host, "its link address isn't found", status, false);
      case RdmaCm.ROUTE_ERROR ->
          fail(id, host, "the subnet manager has no path", status, status == -Errno.ETIMEDOUT);
      default -> {
        /* Path requests cause no other events that matter. */
      }
    }
    return true;
  }

  /** Stores the path of an rdma_cm_id whose route is resolved. */
  void learn(long id, Gid host) {
    HostPath path = HostPath.of(id);
    if (path == null) {
      hosts.fail(host, false);
      return;
    }
    String wrong = hosts.learn(host, path, System.nanoTime());
    if (!wrong.isEmpty()) {
      report.accept("no path to " + host + ": " + wrong);
    }
  }

  private void fail(long id, Gid host, String why, int status, boolean silent) {
    report.accept("no path to " + host + ": " + why + ", " + Errno.describe(-status));
    hosts.fail(host, silent);
    end(id, host);
  }

  private void end(long id, Gid host) {
    pending.remove(id);
    RdmaCm.DESTROY_ID.status(id);
    answered(host);
  }

  private void answered(Gid host) {
    List<Runnable> then = waiting.remove(host);
    if (then != null) {
      then.forEach(Runnable::run);
    }
  }

  void close() {
    pending.keySet().forEach(RdmaCm.DESTROY_ID::status);
  }
}
