package io.heddle.cli.doctor;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.Plane;
import io.heddle.addr.UnusableReason;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Check for misconfigured ports, by comparison of this host's ports. Ports of the same kind as
 * those with planes should also have planes.
 */
final class PortsCheck implements Check {
  private static final Cause DOWN =
      new Cause("plane-port-down", "a port like those that carry planes is down or has no carrier");
  private static final Cause IDLE =
      new Cause("port-without-plane", "a port like those that carry planes is up but carries none");
  private static final Cause FOREIGN =
      new Cause(
          "prefix-foreign", "a plane's address has a prefix far from those of all other planes");

  /*
   * The prefixes of a host's planes usually differ only in their last bits, which number the
   * planes. A plane's prefix is foreign if all other planes' prefixes have at least
   * LEAST_COMMON_BITS leading bits in common, and this prefix has over COUNTING_BITS fewer in
   * common with each of them.
   */
  private static final int LEAST_COMMON_BITS = 32;
  private static final int COUNTING_BITS = 8;
  private static final int SUBNET_BITS = 64;

  @Override
  public String name() {
    return "ports";
  }

  @Override
  public String summary() {
    return "Whether every port like those that carry planes (same driver, kind, MTU, speed, and"
        + " name but for numbers) carries one, and whether the planes' addresses belong"
        + " together.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(DOWN, IDLE, FOREIGN);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    List<Plane> planes = host.planes().planes();
    /*
     * HEDDLE_PLANES may leave out ports on purpose. If it names planes that this host lacks,
     * PlanesCheck reports them.
     */
    if (!planes.isEmpty() && host.setting("HEDDLE_PLANES").isEmpty()) {
      for (NetworkLink link : host.addresses().links()) {
        if (!link.loopback()
            && !link.isContainerInterface()
            && planes.stream().noneMatch(plane -> isOn(plane, link))) {
          withoutPlane(host.addresses(), link, planes, findings);
        }
      }
    }
    for (Plane plane : planes) {
      foreign(plane, planes, findings);
    }
    if (findings.isEmpty() && !planes.isEmpty()) {
      findings.add(
          new Finding.Ok("ports and addresses are alike: " + names(planes.stream().toList())));
    }
    return findings;
  }

  private static boolean isOn(Plane plane, NetworkLink link) {
    return plane.link().index() == link.index();
  }

  private static void withoutPlane(
      HostAddresses addresses, NetworkLink link, List<Plane> planes, List<Finding> findings) {
    List<Plane> like = planes.stream().filter(plane -> isAlike(link, plane.link())).toList();
    List<AssignedAddress> own =
        addresses.addresses().stream()
            .filter(address -> address.interfaceIndex() == link.index())
            .toList();
    if (like.isEmpty()) {
      return;
    }
    String what =
        "%s is like %s, which carr%s %s: "
            .formatted(
                link.name(),
                names(like),
                like.size() == 1 ? "ies a plane" : "y planes",
                like.stream().map(Plane::key).toList());
    if (!link.isUp()) {
      boolean told =
          own.stream()
              .map(addresses::reasonUnusable)
              .anyMatch(why -> why.equals(Optional.of(UnusableReason.LINK_DOWN)));
      if (!told) {
        findings.add(
            new Finding.Warning(
                DOWN,
                what + (link.administrativelyUp() ? "it has no carrier" : "it is set down"),
                "check cable and switch port; ip link set " + link.name() + " up"));
      }
    } else if (own.stream().allMatch(address -> address.address() instanceof Inet6Address)) {
      findings.add(
          new Finding.Warning(
              IDLE,
              what + (own.isEmpty() ? "it has no address" : "it has " + own),
              "assign an address of its plane's prefix (see addresses), or name the planes in"
                  + " HEDDLE_PLANES"));
    }
  }

  private static String names(List<Plane> planes) {
    return String.join(", ", planes.stream().map(plane -> plane.link().name()).distinct().toList());
  }

  private static boolean isAlike(NetworkLink link, NetworkLink other) {
    boolean sameSort =
        withoutNumbers(link.name()).equals(withoutNumbers(other.name()))
            && link.kind().equals(other.kind())
            && (link.parentIndex() == 0) == (other.parentIndex() == 0)
            && link.driver().equals(other.driver());
    /* Speed and MTU of a port that is down may be unknown or unset. */
    return sameSort
        && (!link.isUp()
            || link.mtuBytes() == other.mtuBytes()
                && link.speedBitsPerSecond() == other.speedBitsPerSecond());
  }

  private static String withoutNumbers(String name) {
    return name.replaceAll("[0-9]+", "#");
  }

  /*
   * Warns if the IPv6 addresses of all other planes share a long prefix, and this plane's address
   * shares only a much shorter prefix with them. Its leaf may advertise a wrong prefix, or the
   * address was assigned manually.
   */
  private static void foreign(Plane plane, List<Plane> planes, List<Finding> findings) {
    List<byte[]> others = new ArrayList<>();
    for (Plane other : planes) {
      if (other != plane && other.address().address() instanceof Inet6Address address) {
        others.add(address.getAddress());
      }
    }
    if (others.size() < 2 || !(plane.address().address() instanceof Inet6Address own)) {
      return;
    }
    int among = SUBNET_BITS;
    int with = 0;
    for (byte[] other : others) {
      among = Math.min(among, commonBits(others.getFirst(), other));
      with = Math.max(with, commonBits(own.getAddress(), other));
    }
    if (among >= LEAST_COMMON_BITS && with < among - COUNTING_BITS) {
      findings.add(
          new Finding.Warning(
              FOREIGN,
              "%s has %s on %s, and those of all other planes begin with %s"
                  .formatted(
                      plane.key(),
                      plane.address(),
                      plane.link().name(),
                      prefix(others.getFirst(), among)),
              "check which prefix the leaf of "
                  + plane.link().name()
                  + " advertises (rdisc6, ip -6 route), and remove manually assigned addresses"));
    }
  }

  /** Returns the number of equal leading bits, 64 at most. */
  private static int commonBits(byte[] left, byte[] right) {
    int bits = 0;
    while (bits < SUBNET_BITS && (left[bits / 8] ^ right[bits / 8]) >> 7 - bits % 8 == 0) {
      bits++;
    }
    return bits;
  }

  private static String prefix(byte[] address, int bits) {
    byte[] first = new byte[address.length];
    for (int bit = 0; bit < bits; bit++) {
      first[bit / 8] |= (byte) (address[bit / 8] & 0x80 >> bit % 8);
    }
    try {
      return AddressText.of(InetAddress.getByAddress(first)) + "/" + bits;
    } catch (UnknownHostException neverOfSixteenBytes) {
      throw new IllegalStateException(neverOfSixteenBytes);
    }
  }
}
