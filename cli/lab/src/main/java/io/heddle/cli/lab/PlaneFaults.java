package io.heddle.cli.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Spoils and mends single planes of a lab of network namespaces. Ranks and planes count from 0.
 * Every fault is at one host's interface; its restoration does nothing where there is no fault.
 */
public final class PlaneFaults {
  private static final String ALL = "all";

  /** GSO_MAX_SEGS of linux/netdevice.h: what an interface has by itself. */
  private static final int KERNELS_GSO_SEGMENTS = 65_535;

  private final Lab lab;

  /**
   * Refuses to begin where the programs that spoil planes aren't there, rather than in mid-run.
   *
   * @param why what needs them, as the beginning of a sentence
   * @throws LabException with the packages to install
   */
  public static void requirePrograms(String why) {
    Program.missing(List.of(Program.IP, Program.NFT, Program.TC))
        .ifPresent(sentence -> {
          throw new LabException(why + "; " + sentence);
        });
  }

  public PlaneFaults(Lab lab) {
    if (lab.kind() == Lab.Kind.LOOPBACK) {
      throw new LabException("planes on loopback addresses can't be cut; this needs namespaces");
    }
    this.lab = lab;
  }

  /** Takes the interface down: both ends lose their carrier, this one its address. */
  public void cutCarrier(int rank, int plane) {
    at(rank, List.of("ip", "link", "set", LabPlan.interfaceName(plane), "down"));
  }

  /** As {@link #cutCarrier}, prepared: run, it is done within a millisecond or so. */
  public Runnable readyToCutCarrier(int rank, int plane) {
    return Shell.ready(
        lab.command(rank, List.of("ip", "-batch", "-")),
        "link set " + LabPlan.interfaceName(plane) + " down\n");
  }

  /** Drops every packet in both directions while the link looks well. */
  public void cutSilently(int rank, int plane) {
    drop(rank, plane, "");
  }

  /**
   * Drops a share of the packets in both directions.
   *
   * @param perMille 1 to 1000
   */
  public void lose(int rank, int plane, int perMille) {
    drop(rank, plane, "numgen random mod 1000 < " + perMille + " ");
  }

  /**
   * Drops every packet on its way to this host that is longer than so many bytes, from its IPv6
   * header on, as a switch does whose ports take less than the hosts' interfaces. The hosts' trains
   * are cut before they leave, so that a packet is looked at and not the train.
   */
  public void narrow(int rank, int plane, int bytes) {
    String device = LabPlan.interfaceName(plane);
    letTrainsHave(1, device);
    String table =
        """
        table inet fault_%s {
          chain received { type filter hook prerouting priority -500; iifname "%s" meta length > %s drop; }
        }
        """
            .formatted(device, device, bytes);
    Shell.run(lab.command(rank, List.of("nft", "-f", "-")), table);
  }

  /** Undoes {@link #narrow}, which no other host may have on this plane. */
  public void widen(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    forget(rank, device);
    letTrainsHave(KERNELS_GSO_SEGMENTS, device);
  }

  private void letTrainsHave(int packets, String device) {
    for (int each = 0; each < lab.plan().ranks(); each++) {
      at(
          each,
          List.of("ip", "link", "set", "dev", device, "gso_max_segs", Integer.toString(packets)));
    }
  }

  /** Takes the plane's address away while the link looks well. */
  public void removeAddress(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    at(rank, List.of("ip", "-6", "addr", "flush", "dev", device, "scope", "global"));
  }

  /** Takes all interfaces of a host down at once. */
  public void cutAllCarriers(int rank) {
    batch(rank, plane -> List.of("link set " + LabPlan.interfaceName(plane) + " down"));
  }

  /** Drops every packet of a host in both directions while its links look well. */
  public void cutAllSilently(int rank) {
    drop(rank, ALL, "\"e*\"", "");
  }

  /** Undoes what was done to all planes of a host at once. */
  public void restoreAll(int rank) {
    forget(rank, ALL);
    batch(rank, plane -> restoration(rank, plane));
  }

  /** Undoes whatever was done to the plane at this host. */
  public void restore(int rank, int plane) {
    forget(rank, LabPlan.interfaceName(plane));
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

  /** As {@link #cutSilently}, prepared: run, it is done within a few milliseconds. */
  public Runnable readyToCutSilently(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    return Shell.ready(
        lab.command(rank, List.of("nft", "-f", "-")), dropping(device, '"' + device + '"', ""));
  }

  private void drop(int rank, int plane, String condition) {
    String device = LabPlan.interfaceName(plane);
    drop(rank, device, '"' + device + '"', condition);
  }

  private void drop(int rank, String name, String devices, String condition) {
    Shell.run(lab.command(rank, List.of("nft", "-f", "-")), dropping(name, devices, condition));
  }

  private static String dropping(String name, String devices, String condition) {
    return """
    table inet fault_%s {
      chain received { type filter hook prerouting priority -500; iifname %s %sdrop; }
      chain sent { type filter hook postrouting priority 500; oifname %s %sdrop; }
    }
    """
        .formatted(name, devices, condition, devices, condition);
  }

  private void forget(int rank, String name) {
    String table = "inet fault_" + name;
    Shell.run(
        lab.command(rank, List.of("nft", "-f", "-")),
        "add table " + table + "\ndelete table " + table + "\n");
  }

  private void at(int rank, List<String> command) {
    Shell.run(lab.command(rank, command));
  }
}
