package io.heddle.cli.lab;

import java.util.Locale;

/** A fabric's status as tables for people. */
final class LabReport {
  private LabReport() {}

  static String of(FabricStatus status) {
    StringBuilder text = new StringBuilder();
    line(text, "# lab %s: %s, made %s", status.name(), status.shape(), status.since());
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
    line(text, "%s", status.healthy() ? "healthy" : "NOT HEALTHY");
    return text.toString();
  }

  private static String faults(FabricStatus.PlaneStatus plane) {
    String cuts = plane.cuts().isEmpty() ? "" : "cut: " + String.join(", ", plane.cuts());
    String borrowed =
        plane.borrowed().isEmpty() ? "" : "goes by " + String.join(", ", plane.borrowed());
    return cuts + (cuts.isEmpty() || borrowed.isEmpty() ? "" : "; ") + borrowed;
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
