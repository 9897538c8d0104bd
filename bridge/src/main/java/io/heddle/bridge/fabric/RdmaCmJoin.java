package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
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
 * Joins IPv4 groups by the kernel's RDMA CM (librdmacm), which on RoCE tells switches by IGMP. IPv6
 * groups go by the interface: Linux 6.1 refuses to join them there (ENOTSUPP, tried on rxe).
 */
final class RdmaCmJoin implements GroupJoin {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");

  private final String device;
  private final GroupJoin ofIpv6;
  private final RdmaCmMember member;
  private final Set<Gid> groups = new LinkedHashSet<>();

  private RdmaCmJoin(String device, GroupJoin ofIpv6, RdmaCmMember member) {
    this.device = device;
    this.ofIpv6 = ofIpv6;
    this.member = member;
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
    RdmaCmMember member = RdmaCmMember.open(device);
    try {
      if (member.bind(ipv4)) {
        return new RdmaCmJoin(device, ofIpv6, member);
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
    return "RDMA CM, IPv6 groups by " + ofIpv6.describe();
  }

  @Override
  public GroupRoute join(GroupAddress group) {
    Gid address = group.address();
    if (!address.isIpv4Mapped()) {
      return ofIpv6.join(group);
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
              + "; look whether its port has a link");
    }
    Gid as = member.route().mgid();
    if (!as.equals(group)) {
      member.tell("RDMA CM has joined " + group + " as " + as + ", which RoCEv2 doesn't have");
    }
  }

  @Override
  public void leave(Gid group) {
    if (groups.remove(group)) {
      member.leave(group, false);
    }
    ofIpv6.leave(group);
  }

  @Override
  public String look() {
    member.look();
    if (member.isLost()) {
      joinAgain();
    }
    return member.fault();
  }

  private void joinAgain() {
    try {
      for (Gid each : List.copyOf(groups)) {
        member.leave(each, false);
        joinOnce(each);
      }
      member.joinedAgain();
    } catch (HeddleException refused) {
      member.tell(String.valueOf(refused.getMessage()));
    }
  }

  @Override
  public void close() {
    ofIpv6.close();
    member.close();
  }
}
