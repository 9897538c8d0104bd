package io.heddle.tools.bridge;

import io.heddle.platform.Shell;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;

/**
 * Two fabrics in network namespaces, joined only by a gateway: each has its own switch and hosts.
 * Fabric a is plane 1 of a lab, fabric b plane 2; a host is in one of them.
 *
 * <pre>
 * host 1 10.1.0.1 ─┐                                     ┌─ host 4 10.2.0.4
 * host 2 10.1.0.2 ─┼─ a ─ e1 gateway 10.1.0.254 │ e2 ─ b ─┼─ host 5 10.2.0.5
 * host 3 10.1.0.3 ─┘         fd01::/64      10.2.0.254   └─ host 6 10.2.0.6
 * </pre>
 */
public final class TwoFabrics implements AutoCloseable {
  private static final int FABRICS = 2;
  private static final int GATEWAY = 0;
  private static final int NAMESPACE_WORD = 3;

  private final Lab lab;
  private final int hostsEach;
  private final int gateways;

  private TwoFabrics(Lab lab, int hostsEach, int gateways) {
    this.lab = lab;
    this.hostsEach = hostsEach;
    this.gateways = gateways;
  }

  /**
   * @param kind kind of lab, with namespaces
   * @param hostsEach number of hosts of each fabric
   */
  public static TwoFabrics create(Lab.Kind kind, int hostsEach, int mtuBytes) {
    return create(kind, hostsEach, mtuBytes, 1);
  }

  /**
   * Creates fabrics with several gateways, whose last address bytes are 254, 253 and so on.
   *
   * @param gateways number of gateways, at least 1
   */
  public static TwoFabrics create(Lab.Kind kind, int hostsEach, int mtuBytes, int gateways) {
    int ranks = FABRICS * hostsEach + gateways;
    Lab lab = Labs.create(kind, new LabPlan(ranks, FABRICS, mtuBytes));
    TwoFabrics fabrics = new TwoFabrics(lab, hostsEach, gateways);
    try {
      for (int rank = 0; rank < ranks; rank++) {
        fabrics.setAddresses(rank);
      }
      return fabrics;
    } catch (RuntimeException failed) {
      lab.close();
      throw failed;
    }
  }

  private void setAddresses(int rank) {
    List<String> lines = new ArrayList<>(List.of("link set lo up"));
    for (int side = 0; side < FABRICS; side++) {
      String link = interfaceName(side);
      boolean gateway = rank == GATEWAY || rank > hosts();
      if (gateway || side(rank) == side) {
        int last = !gateway ? rank : rank == GATEWAY ? 254 : 254 - (rank - hosts());
        lines.add("addr add 10." + (side + 1) + ".0." + last + "/24 dev " + link);
        lines.add("addr add fd0" + (side + 1) + "::" + last + "/64 dev " + link + " nodad");
      } else {
        lines.add("link set " + link + " down");
      }
    }
    Shell.run(lab.command(rank, List.of("ip", "-batch", "-")), String.join("\n", lines) + "\n");
  }

  /**
   * Runs a system command in a host's namespace. Host 0 is the gateway.
   *
   * @return output of the command
   */
  public String runAt(int host, List<String> command) {
    return Shell.run(lab.command(host, command), "");
  }

  /**
   * Returns the name of the interface to a fabric, at the gateway and at the fabric's hosts.
   *
   * @param side number of the fabric: 0 for a, 1 for b
   */
  public static String interfaceName(int side) {
    return LabPlan.interfaceName(side);
  }

  /** Returns the number of a host's fabric: 0 for a, 1 for b. */
  public int side(int host) {
    return host <= hostsEach ? 0 : 1;
  }

  /** Returns the number of hosts, which are numbered from 1. */
  public int hosts() {
    return FABRICS * hostsEach;
  }

  public Gid address(int host, boolean ipv4) {
    int side = side(host);
    return ipv4
        ? new Gid(0, 0xffff_0a00_0000L | (long) (side + 1) << 16 | host)
        : new Gid(0xfd01L + side << 48, ipv6Low(host));
  }

  /*
   * Returns the low half of a host's IPv6 address. Its hexadecimal digits are the decimal digits of
   * the host's number.
   */
  private static long ipv6Low(int host) {
    return Long.parseLong(Integer.toString(host), 16);
  }

  /**
   * Returns the number by which this class's methods know a gateway, like a host's number.
   *
   * @param gateway number of the gateway, from 0
   * @return 0 for the first gateway; numbers after the last host for further ones
   */
  public int gateway(int gateway) {
    if (gateway >= gateways) {
      throw new IllegalArgumentException("there are " + gateways + " gateways");
    }
    return gateway == 0 ? GATEWAY : hosts() + gateway;
  }

  /**
   * Returns a command line that runs in a host's namespace.
   *
   * @param host number of the host or gateway
   */
  public List<String> command(int host, List<String> command) {
    return lab.command(host, command);
  }

  /** Returns the name of a host's namespace. Host 0 is the gateway. */
  public String namespace(int host) {
    return lab.command(host, List.of("true")).get(NAMESPACE_WORD);
  }

  @Override
  public void close() {
    lab.close();
  }
}
