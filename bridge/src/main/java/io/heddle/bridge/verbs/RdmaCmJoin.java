package io.heddle.bridge.verbs;

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
 * Join of IPv4 groups by the kernel's RDMA CM (librdmacm), which sends IGMP on RoCE. IPv6 groups
 * are joined on the interface: Linux 6.1 refuses to join them by RDMA CM (ENOTSUPP, tested on rxe).
 */
final class RdmaCmJoin implements GroupJoin {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");

  private final String device;
  private final GroupJoin ipv6Join;
  private final RdmaCmMember member;
  private final Set<Gid> groups = new LinkedHashSet<>();

  private RdmaCmJoin(String device, GroupJoin ipv6Join, RdmaCmMember member) {
    this.device = device;
    this.ipv6Join = ipv6Join;
    this.member = member;
  }

  /**
   * Opens RDMA CM. Returns null if the kernel has no RDMA CM, or if RDMA CM doesn't know the port's
   * address, such as in another network namespace.
   *
   * @param ipv6Join joins IPv6 groups; stays with the caller if null is returned
   * @throws HeddleException if the kernel has RDMA CM, but the library is missing
   */
  static @Nullable RdmaCmJoin open(String device, Gid ipv4, GroupJoin ipv6Join) {
    if (!Files.exists(KERNEL)) {
      return null;
    }
    RdmaCmMember member = RdmaCmMember.open(device);
    try {
      if (member.bind(ipv4)) {
        return new RdmaCmJoin(device, ipv6Join, member);
      }
    } catch (RuntimeException refused) {
      member.close();
      throw refused;
    }
    member.close();
    return null;
  }

  @Override
  public String describe() {
    return "RDMA CM, IPv6 groups by " + ipv6Join.describe();
  }

  @Override
  public GroupRoute join(GroupAddress group) {
    Gid address = group.address();
    if (!address.isIpv4Mapped()) {
      return ipv6Join.join(group);
    }
    if (!groups.contains(address)) {
      joinOnce(address);
      groups.add(address);
    }
    return GroupRoute.ofEthernet(address);
  }

  private void joinOnce(Gid group) {
    int outcome = member.join(group, false, false);
    if (outcome != 0) {
      throw new HeddleException(
          device
              + " can't join "
              + group
              + " by RDMA CM: "
              + Errno.describe(outcome)
              + "; check whether its port has a link");
    }
    Gid as = member.route().mgid();
    if (!as.equals(group)) {
      member.setFault("RDMA CM has joined " + group + " as " + as + ", which RoCEv2 doesn't have");
    }
  }

  @Override
  public void leave(Gid group) {
    if (groups.remove(group)) {
      member.leave(group, false);
    }
    ipv6Join.leave(group);
  }

  @Override
  public String check() {
    member.check();
    if (member.isLost()) {
      rejoin();
    }
    return member.fault();
  }

  private void rejoin() {
    try {
      for (Gid each : List.copyOf(groups)) {
        member.leave(each, false);
        joinOnce(each);
      }
      member.rejoined();
    } catch (HeddleException refused) {
      member.setFault(String.valueOf(refused.getMessage()));
    }
  }

  @Override
  public void close() {
    ipv6Join.close();
    member.close();
  }
}
