package io.heddle.tools.lab;

import java.util.List;

/**
 * Spoils and mends single planes of a lab of network namespaces. Ranks and planes count from 0.
 * Every fault is at one host's interface; its restoration does nothing where there is no fault.
 */
public final class PlaneFaults {
  private final Lab lab;

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

  /** Takes the plane's address away while the link looks well. */
  public void removeAddress(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    at(rank, List.of("ip", "-6", "addr", "flush", "dev", device, "scope", "global"));
  }

  /** Undoes whatever was done to the plane at this host. */
  public void restore(int rank, int plane) {
    String device = LabPlan.interfaceName(plane);
    String table = table(plane);
    Shell.run(
        lab.command(rank, List.of("nft", "-f", "-")),
        "add table inet " + table + "\ndelete table inet " + table + "\n");
    at(rank, List.of("ip", "link", "set", device, "up"));
    String address = LabPlan.address(rank, plane) + "/64";
    at(rank, List.of("ip", "addr", "replace", address, "dev", device, "nodad"));
  }

  private static String table(int plane) {
    return "fault_" + LabPlan.interfaceName(plane);
  }

  private void drop(int rank, int plane, String condition) {
    String device = LabPlan.interfaceName(plane);
    Shell.run(
        lab.command(rank, List.of("nft", "-f", "-")),
        """
        table inet %s {
          chain received { type filter hook prerouting priority -500; iifname "%s" %sdrop; }
          chain sent { type filter hook postrouting priority 500; oifname "%s" %sdrop; }
        }
        """
            .formatted(table(plane), device, condition, device, condition));
  }

  private void at(int rank, List<String> command) {
    Shell.run(lab.command(rank, command));
  }
}
