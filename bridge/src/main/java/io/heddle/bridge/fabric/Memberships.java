package io.heddle.bridge.fabric;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Set of the groups that an interface has joined. Several sockets hold the memberships, since the
 * system limits the groups per socket (igmp_max_memberships, 20). The socket that receives packets
 * gets those of all groups that its interface has joined. Single-threaded; in a bridge used by the
 * control thread.
 */
public final class Memberships implements AutoCloseable {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int SOL_IP = 0;
  private static final int SOL_IPV6 = 41;
  private static final int IP_ADD_MEMBERSHIP = 35;
  private static final int IP_DROP_MEMBERSHIP = 36;
  private static final int IPV6_JOIN_GROUP = 20;
  private static final int IPV6_LEAVE_GROUP = 21;

  private final String interfaceName;
  private final int interfaceIndex;
  private final List<Holder> sockets = new ArrayList<>();
  private final Map<Gid, Holder> holders = new HashMap<>();

  /** Socket with the number of groups that it holds. */
  private static final class Holder {
    private final int fd;
    private final boolean ipv4;
    private int groups;
    private boolean full;

    private Holder(int fd, boolean ipv4) {
      this.fd = fd;
      this.ipv4 = ipv4;
    }
  }

  /** Creates the memberships of an interface in the calling thread's network namespace. */
  public Memberships(String interfaceName, int interfaceIndex) {
    this.interfaceName = interfaceName;
    this.interfaceIndex = interfaceIndex;
  }

  /**
   * Joins a group, unless it is joined already.
   *
   * @throws HeddleException if the system refuses, with its reason
   */
  public void join(Gid group) {
    if (holders.containsKey(group)) {
      return;
    }
    for (Holder each : sockets) {
      if (each.ipv4 == group.isIpv4Mapped() && !each.full) {
        int result = change(each.fd, group, true);
        if (isFull(result)) {
          each.full = true;
        } else {
          require(result, group);
          hold(each, group);
          return;
        }
      }
    }
    hold(opened(group), group);
  }

  /* Opens a socket that has joined a group. */
  private Holder opened(Gid group) {
    int fd = LinuxCalls.socket(group.isIpv4Mapped() ? AF_INET : AF_INET6, SOCK_DGRAM_CLOEXEC, 0);
    if (fd < 0) {
      throw new SystemCallException("socket for memberships", -fd);
    }
    try {
      require(change(fd, group, true), group);
    } catch (HeddleException refused) {
      LinuxCalls.close(fd);
      throw refused;
    }
    Holder holder = new Holder(fd, group.isIpv4Mapped());
    sockets.add(holder);
    return holder;
  }

  private void hold(Holder holder, Gid group) {
    holder.groups++;
    holders.put(group, holder);
  }

  private static boolean isFull(int result) {
    return result == -Errno.ENOBUFS || result == -Errno.ENOMEM;
  }

  private void require(int result, Gid group) {
    if (result < 0) {
      throw new HeddleException(
          interfaceName
              + " can't join "
              + group
              + ": "
              + Errno.describe(-result)
              + "; check whether the interface is up and allows multicast");
    }
  }

  public void leave(Gid group) {
    Holder holder = holders.remove(group);
    if (holder == null) {
      return;
    }
    change(holder.fd, group, false);
    holder.full = false;
    holder.groups--;
    if (holder.groups == 0) {
      sockets.remove(holder);
      LinuxCalls.close(holder.fd);
    }
  }

  /** Returns the number of sockets that hold the groups. */
  public int sockets() {
    return sockets.size();
  }

  private int change(int fd, Gid group, boolean joins) {
    try (Arena arena = Arena.ofConfined()) {
      long request = Memory.allocate(arena, 24, 8);
      if (group.isIpv4Mapped()) {
        /* struct ip_mreqn: group, address, interface. */
        Memory.ALL.set(Memory.NETWORK_INT, request, (int) group.low());
        Memory.setInt(request + 8, interfaceIndex);
        int option = joins ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP;
        return LinuxCalls.setsockopt(fd, SOL_IP, option, request, 12);
      }
      /* struct ipv6_mreq: group, interface. */
      Memory.ALL.set(Memory.NETWORK_LONG, request, group.high());
      Memory.ALL.set(Memory.NETWORK_LONG, request + 8, group.low());
      Memory.setInt(request + 16, interfaceIndex);
      int option = joins ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP;
      return LinuxCalls.setsockopt(fd, SOL_IPV6, option, request, 20);
    }
  }

  @Override
  public void close() {
    sockets.forEach(each -> LinuxCalls.close(each.fd));
    sockets.clear();
    holders.clear();
  }
}
