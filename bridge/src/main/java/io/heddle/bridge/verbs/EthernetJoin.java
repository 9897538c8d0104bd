package io.heddle.bridge.verbs;

import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.infiniband.GroupJoin;
import io.heddle.bridge.infiniband.GroupRoute;
import io.heddle.bridge.infiniband.RdmaCmMember;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Join of groups by a RoCE port. IPv4 groups are joined by the kernel's RDMA CM (librdmacm), which
 * sends IGMP. IPv6 groups are joined on the port's network interface as for any socket, by MLD:
 * Linux 6.1 refuses to join them by RDMA CM (ENOTSUPP, tested on rxe). Without RDMA CM all groups
 * are joined on the interface. A port without an interface in this network namespace announces
 * nothing to the network.
 */
final class EthernetJoin implements GroupJoin {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");

  private final String device;
  private final String interfaceName;
  /* Null without an interface. */
  private final @Nullable Memberships memberships;
  /* Null without RDMA CM. */
  private final @Nullable RdmaCmMember member;
  /* Groups that are joined by RDMA CM. */
  private final Set<Gid> groups = new LinkedHashSet<>();

  private EthernetJoin(String device, @Nullable NetworkLink link, @Nullable RdmaCmMember member) {
    this.device = device;
    this.member = member;
    interfaceName = link == null ? "" : link.name();
    memberships = link == null ? null : new Memberships(link.name(), link.index());
  }

  /**
   * Opens the join of a port.
   *
   * @param link interface of the port; null if it is in another network namespace
   * @param ipv4 IPv4 address of the port; null for none
   * @throws HeddleException if the kernel has RDMA CM, but the library is missing
   */
  static EthernetJoin open(String device, @Nullable NetworkLink link, @Nullable Gid ipv4) {
    return new EthernetJoin(
        device,
        link,
        ipv4 == null || !Files.exists(KERNEL)
            ? null
            : RdmaCmMember.boundTo(device, ipv4, any -> true));
  }

  @Override
  public String describe() {
    String all = memberships == null ? "the device alone" : "IGMP and MLD on " + interfaceName;
    return member == null ? all : "RDMA CM, IPv6 groups by " + all;
  }

  @Override
  public GroupRoute join(GroupAddress group) {
    Gid address = group.address();
    if (member != null && address.isIpv4Mapped()) {
      if (!groups.contains(address)) {
        joinOnce(member, address);
        groups.add(address);
      }
    } else if (memberships != null) {
      memberships.join(address);
    }
    return GroupRoute.ofEthernet(address);
  }

  private void joinOnce(RdmaCmMember by, Gid group) {
    int outcome = by.join(group, false, false);
    if (outcome != 0) {
      throw new HeddleException(
          device
              + " can't join "
              + group
              + " by RDMA CM: "
              + Errno.describe(outcome)
              + "; check whether its port has a link");
    }
    Gid as = by.route().mgid();
    if (!as.equals(group)) {
      by.setFault("RDMA CM has joined " + group + " as " + as + ", which RoCEv2 doesn't have");
    }
  }

  @Override
  public void leave(Gid group) {
    if (member != null && groups.remove(group)) {
      member.leave(group, false);
    }
    if (memberships != null) {
      memberships.leave(group);
    }
  }

  @Override
  public String check() {
    if (member == null) {
      return "";
    }
    member.check();
    if (member.isLost()) {
      rejoin(member);
    }
    return member.fault();
  }

  private void rejoin(RdmaCmMember by) {
    try {
      for (Gid each : List.copyOf(groups)) {
        by.leave(each, false);
        joinOnce(by, each);
      }
      by.rejoined();
    } catch (HeddleException refused) {
      by.setFault(String.valueOf(refused.getMessage()));
    }
  }

  @Override
  public void close() {
    if (memberships != null) {
      memberships.close();
    }
    if (member != null) {
      member.close();
    }
  }
}
