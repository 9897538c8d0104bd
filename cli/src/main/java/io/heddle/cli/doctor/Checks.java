package io.heddle.cli.doctor;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** List of all checks, ordered by subject: a job needs the earlier subjects first. */
final class Checks {
  static final List<Check> ALL = all(List.of(), List.of(), NcclFiles.none(Map.of()));

  private Checks() {}

  /**
   * Returns all checks.
   *
   * @param peer addresses of the peer host, to which each plane is probed; empty for none
   * @param measured files that {@code heddle paths measure} saved
   * @param files settings of the job from its environment and NCCL's files
   */
  static List<Check> all(List<InetAddress> peer, List<Path> measured, NcclFiles files) {
    return List.of(
        new JavaCheck(),
        new PluginCheck(),
        new KernelCheck(),
        new AddressesCheck(),
        new PlanesCheck(),
        new SubnetsCheck(),
        new PortsCheck(),
        new DevicesCheck(),
        new GidsCheck(),
        new LockedMemoryCheck(),
        new RoutesCheck(),
        new PeerCheck(peer),
        new SharedLinksCheck(measured),
        new NcclFilesCheck(files),
        new SettingsCheck(),
        new JobsCheck());
  }

  /** Returns the list of checks in Markdown, as docs/doctor.md contains it. */
  static String list() {
    StringBuilder text = new StringBuilder();
    for (Check check : ALL) {
      text.append("\n### ").append(check.name()).append("\n\n").append(check.summary());
      text.append("\n\n| cause | meaning |\n|---|---|\n");
      for (Cause cause : check.causes()) {
        text.append("| `").append(cause.id()).append("` | ").append(cause.meaning()).append(" |\n");
      }
    }
    return text.toString();
  }
}
