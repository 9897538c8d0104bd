package io.heddle.bridge.fabric;

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
 * Asks RDMA CM for paths to hosts of InfiniBand, each by an id of its own. Who is asked for a queue
 * pair has no path in its event (cma_ib_new_udp_id), so that of a client is asked so. The thread's
 * of {@link RdmaCmNumbers}.
 */
final class RdmaCmPaths {
  private static final int RESOLVE_MS = 2000;
  private static final int OWN_AT = 8;
  private static final int PEER_AT = 40;
  private static final int ROOM_BYTES = 72;

  private final SubnetHosts hosts;
  private final long channel;
  private final String device;
  private final Consumer<String> teller;
  private final long room;
  private final Map<Long, Gid> asked = new HashMap<>();
  private final Map<Gid, List<Runnable>> waiting = new HashMap<>();

  /**
   * @param hosts that learn the paths
   * @param channel that the answers come by
   * @param teller hears what is wrong with a host, in words
   */
  RdmaCmPaths(
      SubnetHosts hosts, long channel, String device, Arena arena, Consumer<String> teller) {
    this.hosts = hosts;
    this.channel = channel;
    this.device = device;
    this.teller = teller;
    room = Memory.allocate(arena, ROOM_BYTES, 8);
  }

  /** Asks for those that are due. */
  void round(long nowNs) {
    hosts.due(nowNs).forEach(this::ask);
  }

  /** Asks for a host's path, whether it is known or not, and does something after the answer. */
  void find(Gid host, Runnable then) {
    hosts.want(host);
    List<Runnable> others = waiting.get(host);
    if (others == null) {
      waiting.put(host, new ArrayList<>(List.of(then)));
      ask(host);
    } else {
      others.add(then);
    }
  }

  private void ask(Gid host) {
    int none = RdmaCm.CREATE_ID.status(channel, room, 0, RdmaCm.DATAGRAMS);
    if (none < 0) {
      teller.accept("no path is asked for on " + device + ": " + Errno.describe(-none));
      answered(host);
      return;
    }
    long id = Memory.getLong(room);
    asked.put(id, host);
    RdmaSocketAddress.write(room + OWN_AT, hosts.source(), 0);
    RdmaSocketAddress.write(room + PEER_AT, host, 0);
    int refused = RdmaCm.RESOLVE_ADDR.status(id, room + OWN_AT, room + PEER_AT, RESOLVE_MS);
    if (refused < 0) {
      fail(id, host, "its address can't be resolved", refused, false);
    }
  }

  /** Takes an event that is given back; false where it is none of a path. */
  boolean take(long id, int kind, int status) {
    Gid host = asked.get(id);
    if (host == null) {
      return false;
    }
    switch (kind) {
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
          fail(id, host, "the manager tells no path", status, status == -Errno.ETIMEDOUT);
      default -> {
        /* Of no meaning for a path. */
      }
    }
    return true;
  }

  /** Learns the path of any id whose route is resolved. */
  void learn(long id, Gid host) {
    HostPath path = HostPath.of(id);
    if (path == null) {
      hosts.lose(host, false);
      return;
    }
    String wrong = hosts.learn(host, path, System.nanoTime());
    if (!wrong.isEmpty()) {
      teller.accept("no way to " + host + ": " + wrong);
    }
  }

  private void fail(long id, Gid host, String why, int status, boolean silent) {
    teller.accept("no path to " + host + ": " + why + ", " + Errno.describe(-status));
    hosts.lose(host, silent);
    end(id, host);
  }

  private void end(long id, Gid host) {
    asked.remove(id);
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
    asked.keySet().forEach(RdmaCm.DESTROY_ID::status);
  }
}
