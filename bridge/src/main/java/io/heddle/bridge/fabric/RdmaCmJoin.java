package io.heddle.bridge.fabric;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Joins IPv4 groups by the kernel's RDMA CM (librdmacm), which on RoCE tells switches by IGMP. IPv6
 * groups go by the interface: Linux 6.1 refuses to join them there (ENOTSUPP, tried on rxe).
 */
final class RdmaCmJoin implements GroupJoin {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");
  private static final int AF_INET = 2;
  private static final int SOCKADDR_BYTES = 16;
  private static final int JOIN_ROUNDS = 100;
  private static final long ROUND_NS = 20_000_000;

  private final String device;
  private final GroupJoin ofIpv6;
  private final Arena arena = Arena.ofShared();
  /* An event's address, then a socket address, a pollfd and a timespec. */
  private final long room = Memory.allocate(arena, 8 + 32 + 8 + 16, 8);
  private final long channel;
  private final Set<Gid> groups = new LinkedHashSet<>();
  private long id;
  private String fault = "";
  private boolean lost;

  private RdmaCmJoin(String device, GroupJoin ofIpv6, long channel) {
    this.device = device;
    this.ofIpv6 = ofIpv6;
    this.channel = channel;
    Memory.setInt(room + 40, Memory.getInt(channel));
    Memory.ALL.set(Memory.NATIVE_SHORT, room + 44, (short) 1);
    Memory.setLong(room + 48, 0);
    Memory.setLong(room + 56, ROUND_NS);
  }

  /**
   * Null where this kernel has no RDMA CM, or it doesn't know the port's address, as in another
   * network namespace.
   *
   * @param ofIpv6 joins IPv6 groups; the caller's where null is returned
   * @throws HeddleException where the kernel has it and the library is missing
   */
  static @Nullable RdmaCmJoin open(String device, Gid ipv4, GroupJoin ofIpv6) {
    if (!Files.exists(KERNEL)) {
      return null;
    }
    if (!RdmaCm.libraryIsPresent()) {
      throw new HeddleException(
          RdmaCm.LIBRARY + " can't be opened, by which " + device + " joins groups; install it");
    }
    long channel = RdmaCm.CREATE_EVENT_CHANNEL.pointer();
    if (channel < 0) {
      throw new SystemCallException("rdma_create_event_channel for " + device, (int) -channel);
    }
    RdmaCmJoin join = new RdmaCmJoin(device, ofIpv6, channel);
    try {
      if (join.isBound(ipv4)) {
        return join;
      }
    } catch (RuntimeException refused) {
      join.free();
      throw refused;
    }
    join.free();
    return null;
  }

  /* The first word of a struct rdma_cm_id is its device, 0 where no RDMA device has the address. */
  private boolean isBound(Gid address) {
    RdmaCm.CREATE_ID.call(device, channel, room, 0, RdmaCm.DATAGRAMS);
    id = Memory.getLong(room);
    int refused = RdmaCm.BIND_ADDR.status(id, socketAddress(address));
    if (refused < 0 && refused != -Errno.EADDRNOTAVAIL && refused != -Errno.ENODEV) {
      throw new SystemCallException("rdma_bind_addr of " + device + " to " + address, -refused);
    }
    return Memory.getLong(id) != 0;
  }

  /* struct sockaddr_in. */
  private long socketAddress(Gid address) {
    long at = room + 8;
    Memory.clear(at, SOCKADDR_BYTES);
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_INET);
    Memory.ALL.set(Memory.NETWORK_INT, at + 4, (int) address.low());
    return at;
  }

  @Override
  public String describe() {
    return "RDMA CM, IPv6 groups by " + ofIpv6.describe();
  }

  @Override
  public void join(Gid group) {
    if (!group.isIpv4Mapped()) {
      ofIpv6.join(group);
    } else if (!groups.contains(group)) {
      joinOnce(group);
      groups.add(group);
    }
  }

  private void joinOnce(Gid group) {
    RdmaCm.JOIN_MULTICAST.call(device + " to " + group, id, socketAddress(group), 0);
    int outcome = awaitJoin(group);
    if (outcome != 0) {
      RdmaCm.LEAVE_MULTICAST.status(id, socketAddress(group));
      throw new HeddleException(
          device
              + " can't join "
              + group
              + " by RDMA CM: "
              + Errno.describe(outcome)
              + "; look whether its port has a link");
    }
  }

  /* 0, or an errno value. What else is told meanwhile is kept for the next look. */
  private int awaitJoin(Gid group) {
    for (int i = 0; i < JOIN_ROUNDS; i++) {
      int kind = take(true, group);
      if (kind == RdmaCm.MULTICAST_JOIN) {
        return 0;
      }
      if (kind == RdmaCm.MULTICAST_ERROR) {
        return Errno.ENETUNREACH;
      }
    }
    return Errno.ETIMEDOUT;
  }

  /* Takes one event: its kind, or −1 where none came within a round. */
  private int take(boolean waits, Gid joining) {
    Memory.setLong(room + 56, waits ? ROUND_NS : 0);
    if (DatagramCalls.poll(LinuxCalls.errnoCapture(), room + 40, 1, room + 48) <= 0
        || RdmaCm.GET_CM_EVENT.status(channel, room) < 0) {
      return -1;
    }
    long event = Memory.getLong(room);
    int kind = Memory.getInt(event + RdmaCm.EVENT_KIND);
    int status = Memory.getInt(event + RdmaCm.EVENT_STATUS);
    if (kind == RdmaCm.MULTICAST_JOIN) {
      Gid as = Gid.of(Memory.toArray(event + RdmaCm.EVENT_GROUP, Gid.BYTES));
      if (!as.equals(joining)) {
        fault = "RDMA CM has joined " + joining + " as " + as + ", which RoCEv2 doesn't have";
      }
    } else if (kind == RdmaCm.MULTICAST_ERROR) {
      fault = "RDMA CM has lost a group, status " + status + "; it is joined again";
      lost = true;
    } else if (kind == RdmaCm.DEVICE_REMOVAL) {
      fault = device + " was removed";
    } else if (kind == RdmaCm.ADDR_CHANGE) {
      fault = "the address by which RDMA CM joined has changed; restart the bridge";
    }
    RdmaCm.ACK_CM_EVENT.status(event);
    return kind;
  }

  @Override
  public void leave(Gid group) {
    if (groups.remove(group)) {
      RdmaCm.LEAVE_MULTICAST.status(id, socketAddress(group));
    }
    ofIpv6.leave(group);
  }

  @Override
  public String look() {
    while (take(false, new Gid(0, 0)) >= 0) {
      /* Each is kept as the fault that it tells of. */
    }
    if (lost) {
      joinAgain();
    }
    return fault;
  }

  /* Which group was lost the event doesn't say in a way that outlives an id. */
  private void joinAgain() {
    lost = false;
    try {
      for (Gid each : List.copyOf(groups)) {
        RdmaCm.LEAVE_MULTICAST.status(id, socketAddress(each));
        joinOnce(each);
      }
      fault = "";
    } catch (HeddleException refused) {
      fault = String.valueOf(refused.getMessage());
      lost = true;
    }
  }

  @Override
  public void close() {
    ofIpv6.close();
    free();
  }

  private void free() {
    if (id != 0) {
      RdmaCm.DESTROY_ID.status(id);
    }
    RdmaCm.DESTROY_EVENT_CHANNEL.status(channel);
    arena.close();
  }
}
