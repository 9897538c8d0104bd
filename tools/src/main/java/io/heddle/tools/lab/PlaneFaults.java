package io.heddle.tools.lab;

import io.heddle.platform.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Fault injection for single planes of a lab of network namespaces. Ranks and planes count from 0.
 * Every fault is at one host's interface. Undoing a fault that isn't present has no effect.
 */
public final class PlaneFaults {
  private static final String ALL = "all";

  /** Default of an interface's gso_max_segs: GSO_MAX_SEGS of linux/netdevice.h. */
  private static final int KERNELS_GSO_SEGMENTS = 65_535;

  private final Lab lab;

  /**
   * Verifies before a run that the programs for fault injection are installed.
   *
   * @param why beginning of the error message, which names the feature that needs the programs
   * @throws LabException if programs are missing, with the packages to install
   */
  public static void requirePrograms(String why) {
    Program.missing(List.of(Program.IP, Program.NFT, Program.TC))
        .ifPresent(sentence -> {
          throw new LabException(why + "; " + sentence);
        });
  }

  public PlaneFaults(Lab lab) {
    if (lab.kind() == Lab.Kind.LOOPBACK) {
      throw new LabException("planes on loopback addresses can't be cut; use network namespaces");
    }
    this.lab = lab;
  }

  /**
   * Sets a host's interface down. Both ends of the link lose their carrier, and the interface loses
   * its address.
   */
  public void cutCarrier(int rank, int plane) {
    at(rank, List.of("ip", "link", "set", LabPlan.interfaceName(plane), "down"));
  }

  /** Prepares {@link #cutCarrier}. The returned action takes about a millisecond. */
  public Runnable prepareCarrierCut(int rank, int plane) {
    return Shell.prepare(
        lab.command(rank, List.of("ip", "-batch", "-")),
        "link set " + LabPlan.interfaceName(plane) + " down\n");
  }

  /** Drops every packet of a plane at this host in both directions while the carrier stays on. */
  public void cutSilently(int rank, int plane) {
    drop(rank, plane, "");
  }

  /**
   * Drops a share of the packets of a plane at this host in both directions.
   *
   * @param perMille share of dropped packets, 1 to 1000 ‰
   */
  public void dropShare(int rank, int plane, int perMille) {
    drop(rank, plane, "numgen random mod 1000 < " + perMille + " ");
  }

  /**
   * Drops every packet to this host that is longer than {@code bytes}, IPv6 header included, like a
   * switch with a smaller MTU than the hosts. Disables the segment trains of all hosts on this
   * plane, so that the rule sees single packets.
   */
  public void narrow(int rank, int plane, int bytes) {
    String device = LabPlan.interfaceName(plane);
    limitGsoSegments(1, device);
    String table =
        """
        table inet fault_%s {
          chain received { type filter hook prerouting priority -500; iifname "%s" meta length > %s drop; }
        }
        """
            .formatted(device, device, bytes);
    Shell.run(lab.command(rank, List.of("nft", "-f", "-")), table);
  }

  /**
   * Undoes {@link #narrow}. No other host may be narrowed on this plane, since this enables segment
   * trains again for all hosts.
   */
  public void widen(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    removeRules(rank, device);
    limitGsoSegments(KERNELS_GSO_SEGMENTS, device);
  }

  private void limitGsoSegments(int packets, String device) {
    for (int each = 0; each < lab.plan().ranks(); each++) {
      at(
          each,
          List.of("ip", "link", "set", "dev", device, "gso_max_segs", Integer.toString(packets)));
    }
  }

  /** Removes a host's address on a plane while the link stays up. */
  public void removeAddress(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    at(rank, List.of("ip", "-6", "addr", "flush", "dev", device, "scope", "global"));
  }

  /** Sets all interfaces of a host down at once. */
  public void cutAllCarriers(int rank) {
    batch(rank, plane -> List.of("link set " + LabPlan.interfaceName(plane) + " down"));
  }

  /** Drops every packet of a host in both directions while carriers stay on. */
  public void cutAllSilently(int rank) {
    drop(rank, ALL, "\"e*\"", "");
  }

  /** Undoes the faults of all planes of a host at once. */
  public void restoreAll(int rank) {
    removeRules(rank, ALL);
    batch(rank, plane -> restoration(rank, plane));
  }

  /** Undoes all faults of a plane at this host. */
  public void restore(int rank, int plane) {
    removeRules(rank, LabPlan.interfaceName(plane));
    Shell.run(
        lab.command(rank, List.of("ip", "-batch", "-")),
        String.join("\n", restoration(rank, plane)) + "\n");
  }

  private static List<String> restoration(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    String address = LabPlan.address(rank, plane) + "/64";
    return List.of(
        "link set " + device + " up", "addr replace " + address + " dev " + device + " nodad");
  }

  private void batch(int rank, IntFunction<List<String>> lines) {
    List<String> all = new ArrayList<>();
    for (int plane = 0; plane < lab.plan().planes(); plane++) {
      all.addAll(lines.apply(plane));
    }
    Shell.run(lab.command(rank, List.of("ip", "-batch", "-")), String.join("\n", all) + "\n");
  }

  /** Prepares {@link #cutSilently}. The returned action takes a few milliseconds. */
  public Runnable prepareSilentCut(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    return Shell.prepare(
        lab.command(rank, List.of("nft", "-f", "-")), dropRules(device, '"' + device + '"', ""));
  }

  private void drop(int rank, int plane, String condition) {
    String device = LabPlan.interfaceName(plane);
    drop(rank, device, '"' + device + '"', condition);
  }

  private void drop(int rank, String name, String devices, String condition) {
    Shell.run(lab.command(rank, List.of("nft", "-f", "-")), dropRules(name, devices, condition));
  }

  private static String dropRules(String name, String devices, String condition) {
    return """
    table inet fault_%s {
      chain received { type filter hook prerouting priority -500; iifname %s %sdrop; }
      chain sent { type filter hook postrouting priority 500; oifname %s %sdrop; }
    }
    """
        .formatted(name, devices, condition, devices, condition);
  }

  private void removeRules(int rank, String name) {
    String table = "inet fault_" + name;
    Shell.run(
        lab.command(rank, List.of("nft", "-f", "-")),
        "add table " + table + "\ndelete table " + table + "\n");
  }

  private void at(int rank, List<String> command) {
    Shell.run(lab.command(rank, command));
  }
}
