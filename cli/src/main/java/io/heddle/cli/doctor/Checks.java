package io.heddle.cli.doctor;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** All checks, in the order in which a job depends on their subjects. */
final class Checks {
  static final List<Check> ALL = all(List.of(), List.of(), NcclFiles.none(Map.of()));

  private Checks() {}

  /**
   * @param peer addresses of the host to probe planes to; empty for none
   * @param measured files of measured paths
   * @param files sources of the job's settings
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

  /** Returns the list of checks as it stands in docs/doctor.md. */
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
