package io.heddle.transport.control;

import io.heddle.addr.AddressFlag;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Choice of the addresses that control channels listen on, by NCCL's rules: NCCL_SOCKET_IFNAME
 * ({@code eth,ib} prefixes, {@code =eth0} exact names, {@code ^docker,lo} all but these) and
 * NCCL_SOCKET_FAMILY (AF_INET or AF_INET6).
 */
public final class ControlAddresses {
  private static final int IPV4 = 1;
  private static final int LAST = 3;
  private static final int MOST = 3;

  private record Candidate(InetAddress address, int interfaceIndex, int rank) {}

  private ControlAddresses() {}

  /**
   * Returns the addresses to listen on, best first: global IPv6, then IPv4. Link-local IPv6,
   * loopback and container interfaces count only where there is nothing else or where they are
   * requested. Returns at most three: the best of all, the best of another interface, and the best
   * of the other family, or else of other subnets. So one obstacle doesn't cut a peer off from all
   * of them. An interface counts once it is administratively up: the kernel may report its carrier
   * up to a second late.
   *
   * @throws HeddleException when none fits, naming the variables
   */
  public static List<InetAddress> choose(
      HostAddresses host, @Nullable String interfaceNames, @Nullable String family) {
    List<Candidate> found = new ArrayList<>();
    for (AssignedAddress assigned : host.addresses()) {
      NetworkLink link = host.linkOf(assigned);
      if (link.administrativelyUp()
          && matches(link.name(), interfaceNames)
          && !assigned.has(AddressFlag.TENTATIVE)
          && !assigned.has(AddressFlag.DUPLICATE)
          && ofFamily(assigned.address(), family)) {
        boolean isChosen =
            interfaceNames != null && !interfaceNames.isBlank() && !interfaceNames.startsWith("^");
        found.add(
            new Candidate(
                assigned.address(),
                link.index(),
                link.isContainerInterface() && !isChosen ? LAST : rank(assigned.address())));
      }
    }
    if (found.isEmpty()) {
      throw new HeddleException(
          "no interface that is up has an address for control channels"
              + settings(interfaceNames, family));
    }
    found.sort((left, right) -> Integer.compare(left.rank(), right.rank()));
    return spread(found);
  }

  /* Names the settings that exclude addresses, if any. */
  private static String settings(@Nullable String interfaceNames, @Nullable String family) {
    List<String> set = new ArrayList<>();
    if (interfaceNames != null) {
      set.add("NCCL_SOCKET_IFNAME=" + interfaceNames);
    }
    if (family != null) {
      set.add("NCCL_SOCKET_FAMILY=" + family);
    }
    return set.isEmpty()
        ? "; set one up and give it an address"
        : " by " + String.join(" and ", set) + "; unset that, or name an interface that has one";
  }

  private static List<InetAddress> spread(List<Candidate> found) {
    Candidate best = found.getFirst();
    int worst = Math.max(IPV4, best.rank());
    List<Candidate> reachable = found.stream().filter(each -> each.rank() <= worst).toList();
    Set<InetAddress> chosen = new LinkedHashSet<>(List.of(best.address()));
    reachable.stream()
        .filter(each -> each.interfaceIndex() != best.interfaceIndex())
        .findFirst()
        .ifPresent(other -> chosen.add(other.address()));
    reachable.stream()
        .filter(each ->
            chosen.stream().noneMatch(address -> address.getClass() == each.address().getClass()))
        .findFirst()
        .ifPresent(other -> chosen.add(other.address()));
    for (Candidate each : reachable) {
      if (chosen.size() < MOST
          && each.rank() == best.rank()
          && chosen.stream().noneMatch(address -> isSameSubnet(address, each.address()))) {
        chosen.add(each.address());
      }
    }
    return List.copyOf(chosen);
  }

  /*
   * Returns whether both addresses seem to be in one subnet: whether the first halves of IPv6
   * addresses, or all but the last bytes of IPv4 addresses, are equal.
   */
  private static boolean isSameSubnet(InetAddress one, InetAddress other) {
    byte[] left = one.getAddress();
    byte[] right = other.getAddress();
    int length = left.length == Gid.BYTES ? left.length / 2 : left.length - 1;
    return left.length == right.length && Arrays.equals(left, 0, length, right, 0, length);
  }

  private static int rank(InetAddress address) {
    if (address.isLoopbackAddress()) {
      return LAST;
    }
    if (address.isLinkLocalAddress()) {
      return 2;
    }
    return address instanceof Inet6Address ? 0 : IPV4;
  }

  private static boolean ofFamily(InetAddress address, @Nullable String family) {
    return family == null
        || !(family.equals("AF_INET") && !(address instanceof Inet4Address))
            && !(family.equals("AF_INET6") && !(address instanceof Inet6Address));
  }

  static boolean matches(String name, @Nullable String interfaceNames) {
    if (interfaceNames == null || interfaceNames.isBlank()) {
      return true;
    }
    boolean exclude = interfaceNames.startsWith("^");
    String rest = exclude ? interfaceNames.substring(1) : interfaceNames;
    boolean exact = rest.startsWith("=");
    boolean listed = false;
    for (String wanted : (exact ? rest.substring(1) : rest).split(",", -1)) {
      listed |= !wanted.isBlank() && (exact ? name.equals(wanted) : name.startsWith(wanted));
    }
    return listed != exclude;
  }
}
