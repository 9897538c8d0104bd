package io.heddle.bridge.infiniband;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Join of groups in an InfiniBand subnet by RDMA CM, which sends the request to the subnet manager
 * and returns the groups' LIDs. Receiving and sending have separate memberships, each with its own
 * RDMA CM id, so that one membership can end without the other.
 */
public final class SubnetJoin implements GroupJoin {
  private final VerbsSpec spec;
  private final Gid address;
  private final RdmaCmMember receiver;
  private final RdmaCmMember sender;
  private final Log log;
  private final Map<Gid, Joined> received = new HashMap<>();
  private final Map<GroupAddress, Joined> sent = new HashMap<>();
  private boolean sendsByFullMembership;

  /* Joined group, with the number of calls that joined it. */
  private record Joined(GroupAddress group, GroupRoute route, int times) {}

  private SubnetJoin(
      VerbsSpec spec, Gid address, RdmaCmMember receiver, RdmaCmMember sender, Log log) {
    this.spec = spec;
    this.address = address;
    this.receiver = receiver;
    this.sender = sender;
    this.log = log;
  }

  /**
   * Opens the join of a port, which RDMA CM identifies by an IPoIB address.
   *
   * @param portDevice name of the port's device in libibverbs
   * @param portNumber number of the port of this device
   * @throws HeddleException if the port has no such address, or none of the configured ones
   */
  public static SubnetJoin open(
      VerbsSpec spec, String portDevice, int portNumber, HostAddresses host, Log log) {
    for (Gid each : spec.addresses().isEmpty() ? candidates(spec, host) : spec.addresses()) {
      RdmaCmMember receiver = bound(spec, portDevice, portNumber, each);
      if (receiver != null) {
        return openAt(receiver, spec, portDevice, portNumber, each, log);
      }
    }
    throw spec.failure(
        "RDMA CM knows %s, and groups of InfiniBand are joined by one; give the port an IPoIB"
            + " interface with an address, or name that by address = in its section",
        spec.addresses().isEmpty()
            ? "no address of this network namespace on the port of " + spec.device()
            : "the port of " + spec.device() + " by none of " + spec.addresses());
  }

  /*
   * Returns the addresses to try. Link-local addresses are left out: they are valid only together
   * with an interface, which RDMA CM isn't given.
   */
  private static List<Gid> candidates(VerbsSpec spec, HostAddresses host) {
    return host.addresses().stream()
        .map(each -> Gid.of(each.address()))
        .filter(each -> !each.isLinkLocal() && !spec.proxyAddresses().contains(each))
        .toList();
  }

  private static SubnetJoin openAt(
      RdmaCmMember receiver,
      VerbsSpec spec,
      String portDevice,
      int portNumber,
      Gid address,
      Log log) {
    RdmaCmMember sender = null;
    try {
      sender = bound(spec, portDevice, portNumber, address);
      if (sender == null) {
        throw new HeddleException("address " + address + " of " + spec.device() + " is gone");
      }
      return new SubnetJoin(spec, address, receiver, sender, log);
    } finally {
      if (sender == null) {
        receiver.close();
      }
    }
  }

  private static @Nullable RdmaCmMember bound(
      VerbsSpec spec, String portDevice, int portNumber, Gid address) {
    return RdmaCmMember.boundTo(
        spec.device(), address, member -> member.isOn(portDevice, portNumber));
  }

  /**
   * Checks that the port has the IPoIB proxy addresses.
   *
   * @param partitionKey partition that the addresses must be in
   * @throws HeddleException if an address is missing; the message names it
   */
  public static void requireProxyAddresses(
      VerbsSpec spec, String portDevice, int portNumber, int partitionKey) {
    for (Gid each : spec.proxyAddresses()) {
      try (RdmaCmMember member = bound(spec, portDevice, portNumber, each)) {
        if (member == null || member.partitionKey() != partitionKey) {
          throw spec.failure(
              "%s, which must represent a host; ip addr add %s/%d on the IPoIB interface of its"
                  + " port in partition 0x%04x",
              member == null
                  ? spec.device() + " has no address " + each
                  : String.format(
                      Locale.ROOT,
                      "%s has address %s in partition 0x%04x",
                      spec.device(),
                      each,
                      member.partitionKey()),
              each,
              each.isIpv4Mapped() ? 32 : 128,
              partitionKey);
        }
      }
    }
  }

  /** Returns the IPoIB address by which RDMA CM identifies the port. */
  public Gid address() {
    return address;
  }

  /** Returns the interface of this address; null if it isn't in this network namespace. */
  public @Nullable NetworkLink link(HostAddresses host) {
    for (AssignedAddress each : host.addresses()) {
      if (Gid.of(each.address()).equals(address)) {
        return host.link(each.interfaceIndex());
      }
    }
    return null;
  }

  @Override
  public int partitionKey() {
    return receiver.partitionKey();
  }

  @Override
  public String describe() {
    return "RDMA CM from " + address + " in partition 0x" + Integer.toHexString(partitionKey());
  }

  @Override
  public GroupRoute join(GroupAddress group) {
    Joined old = received.get(group.address());
    if (old != null && old.group().equals(group)) {
      return old.route();
    }
    GroupRoute route = joined(receiver, group, false);
    Gid other = otherGroupWithMgid(route.mgid(), group.address());
    if (other != null) {
      leave(receiver, group);
      throw failure(
          group, "its MGID " + route.mgid() + " is that of " + other + "; choose another mgid=");
    }
    if (old != null) {
      leave(receiver, old.group());
    }
    received.put(group.address(), new Joined(group, route, 1));
    return route;
  }

  private @Nullable Gid otherGroupWithMgid(Gid mgid, Gid but) {
    for (Joined each : received.values()) {
      if (each.route().mgid().equals(mgid) && !each.group().address().equals(but)) {
        return each.group().address();
      }
    }
    return null;
  }

  private HeddleException failure(GroupAddress group, String why) {
    return spec.failure("%s can't join %s: %s", spec.device(), group, why);
  }

  private GroupRoute joined(RdmaCmMember by, GroupAddress group, boolean onlySends) {
    boolean isMgid = group.mgid() != MgidFormat.RDMA;
    Gid wanted = nameOf(group);
    return requireJoined(by, group, by.join(wanted, isMgid, onlySends));
  }

  private GroupRoute requireJoined(RdmaCmMember by, GroupAddress group, int outcome) {
    if (outcome != 0) {
      throw failure(
          group,
          "RDMA CM returned "
              + Errno.describe(outcome)
              + "; check whether its port has a link and the subnet a manager");
    }
    GroupRoute route = by.route();
    Gid wanted = nameOf(group);
    if (group.mgid() != MgidFormat.RDMA && !route.mgid().equals(wanted)) {
      by.leave(wanted, true);
      throw failure(group, "RDMA CM made MGID " + route.mgid() + " of " + wanted);
    }
    return route;
  }

  /*
   * Returns the address by which RDMA CM joins a group. It is either the group's IP address, from
   * which RDMA CM derives the MGID, or the MGID itself.
   */
  private Gid nameOf(GroupAddress group) {
    return group.mgid() == MgidFormat.RDMA
        ? group.address()
        : group.mgid().encode(group.address(), group.port(), partitionKey());
  }

  private void leave(RdmaCmMember by, GroupAddress group) {
    by.leave(nameOf(group), group.mgid() != MgidFormat.RDMA);
  }

  @Override
  public void leave(Gid group) {
    Joined old = received.remove(group);
    if (old != null) {
      leave(receiver, old.group());
    }
  }

  @Override
  public GroupRoute joinToSend(GroupAddress group) {
    Joined old = sent.get(group);
    GroupRoute route = old == null ? joinedToSend(group) : old.route();
    sent.put(group, new Joined(group, route, old == null ? 1 : old.times() + 1));
    return route;
  }

  private GroupRoute joinedToSend(GroupAddress group) {
    if (!sendsByFullMembership) {
      int outcome = sender.join(nameOf(group), group.mgid() != MgidFormat.RDMA, true);
      if (outcome != Errno.EOPNOTSUPP && outcome != Errno.ENOSYS) {
        return requireJoined(sender, group, outcome);
      }
      sendsByFullMembership = true;
      log.info(
          "fabric %s: members that only send aren't known here (%s), so %s becomes a full member of"
              + " groups that it only sends to",
          spec.name(), Errno.describe(outcome), spec.device());
    }
    return joined(sender, group, false);
  }

  @Override
  public void leaveToSend(GroupAddress group) {
    Joined old = sent.get(group);
    if (old == null) {
      return;
    }
    if (old.times() > 1) {
      sent.put(group, new Joined(group, old.route(), old.times() - 1));
    } else {
      sent.remove(group);
      leave(sender, group);
    }
  }

  @Override
  public @Nullable GroupRoute routeOf(Gid group) {
    Joined joined = received.get(group);
    return joined == null ? null : joined.route();
  }

  @Override
  public @Nullable GroupRoute routeToSend(GroupAddress group) {
    Joined joined = sent.get(group);
    return joined == null ? null : joined.route();
  }

  @Override
  public String check() {
    receiver.check();
    sender.check();
    if (receiver.isLost()) {
      rejoin(receiver, received, false);
    }
    if (sender.isLost()) {
      rejoin(sender, sent, !sendsByFullMembership);
    }
    return receiver.fault().isEmpty() ? sender.fault() : receiver.fault();
  }

  /*
   * Joins all groups again. A restarted subnet manager has lost the memberships, and may assign
   * other LIDs.
   */
  private <K> void rejoin(RdmaCmMember by, Map<K, Joined> groups, boolean onlySends) {
    try {
      groups.replaceAll((key, old) -> {
        leave(by, old.group());
        return new Joined(old.group(), joined(by, old.group(), onlySends), old.times());
      });
      by.rejoined();
    } catch (HeddleException refused) {
      by.setFault(String.valueOf(refused.getMessage()));
    }
  }

  @Override
  public void close() {
    receiver.close();
    sender.close();
  }
}
