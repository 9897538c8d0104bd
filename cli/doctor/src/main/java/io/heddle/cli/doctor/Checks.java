package io.heddle.cli.doctor;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** All checks, in the order in which a job meets what they look at. */
final class Checks {
  static final List<Check> ALL = all(List.of(), List.of(), NcclFiles.none(Map.of()));

  private Checks() {}

  /**
   * @param peer addresses of whom to probe planes to; none for nobody
   * @param measured files of measured paths
   * @param files where settings come from
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

  /** The list of checks as docs/doctor.md has it. */
  static String list() {
    StringBuilder text = new StringBuilder();
    for (Check check : ALL) {
      text.append("\n### ").append(check.name()).append("\n\n").append(check.looksAt());
      text.append("\n\n| cause | meaning |\n|---|---|\n");
      for (Cause cause : check.causes()) {
        text.append("| `").append(cause.id()).append("` | ").append(cause.meaning()).append(" |\n");
      }
    }
    return text.toString();
  }
}
