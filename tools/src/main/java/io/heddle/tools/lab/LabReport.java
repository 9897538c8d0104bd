package io.heddle.tools.lab;

import io.heddle.tools.switching.LinkCount;
import java.util.Locale;

/** Formatter of a fabric's status as text tables. */
final class LabReport {
  private LabReport() {}

  static String of(FabricStatus status) {
    StringBuilder text = new StringBuilder();
    line(text, "# lab %s: %s, created %s", status.name(), status.shape(), status.since());
    line(
        text,
        "# %5s  %-10s %10s %10s %16s %12s %7s  %s",
        "plane",
        "via",
        "Gbit/s",
        "announced",
        "received bytes",
        "packets",
        "paths",
        "faults");
    for (FabricStatus.PlaneStatus plane : status.planes()) {
      line(
          text,
          "  %5d  %-10s %10.3f %10d %16d %12d %7s  %s",
          plane.plane(),
          plane.via(),
          plane.rateGbps(),
          plane.announcedGbps(),
          plane.receivedBytes(),
          plane.receivedPackets(),
          plane.paths() == 0 ? "-" : plane.ownPaths() + "/" + plane.paths(),
          faults(plane));
    }
    line(text, "# %-6s %-8s %-9s %9s %13s", "router", "program", "pids", "sessions", "from hosts");
    for (FabricStatus.RouterStatus router : status.routers()) {
      line(
          text,
          "  %-6s %-8s %-9s %9s %13d%s",
          router.name(),
          router.program(),
          String.join(",", router.pids().stream().map(String::valueOf).toList()),
          router.sessions() + "/" + router.expected(),
          router.hostSessions(),
          router.alive() ? "" : "  DEAD");
    }
    for (FabricStatus.HostStatus host : status.hosts()) {
      line(text, "# %s in namespace %s", host.name(), host.namespace());
      host.addresses().forEach(address -> line(text, "  %s", address));
      host.missing().forEach(address -> line(text, "  %s MISSING", address));
    }
    if (status.switching() != null) {
      switching(text, status.switching());
    }
    line(text, "%s", status.healthy() ? "healthy" : "NOT HEALTHY");
    return text.toString();
  }

  private static void switching(StringBuilder text, FabricStatus.SwitchingStatus switching) {
    line(text, "# switching: %s", switching.text());
    if (!switching.watched()) {
      line(text, "# NOT WATCHED: its process has ended; take the lab down and up again");
    }
    line(
        text,
        "# %-7s %-12s %-6s %12s %15s %12s %12s",
        "switch",
        "towards",
        "link",
        "data packets",
        "bytes",
        "corrected",
        "other");
    for (LinkCount link : switching.links()) {
      line(
          text,
          "  %-7s %-12s %-6s %12d %15d %12d %12d%s",
          link.at(),
          link.to(),
          link.link(),
          link.markedPackets(),
          link.markedBytes(),
          link.correctedPackets(),
          link.otherPackets(),
          link.alive() ? "" : "  DOWN");
    }
  }

  private static String faults(FabricStatus.PlaneStatus plane) {
    String cuts = plane.cuts().isEmpty() ? "" : "cut: " + String.join(", ", plane.cuts());
    String borrowed =
        plane.borrowed().isEmpty() ? "" : "diverted over " + String.join(", ", plane.borrowed());
    return cuts + (cuts.isEmpty() || borrowed.isEmpty() ? "" : "; ") + borrowed;
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
