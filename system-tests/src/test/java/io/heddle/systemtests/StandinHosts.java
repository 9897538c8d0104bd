package io.heddle.systemtests;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.tools.lab.StandinLab;
import java.nio.file.Path;
import java.util.Map;

/** Factory of two hosts in network namespaces, with devices of the stand-in for libibverbs. */
final class StandinHosts {
  private StandinHosts() {}

  /**
   * Creates the hosts.
   *
   * @param addresses number of addresses of each device, one for each plane
   * @param settings STANDIN_* environment variables, except those that define the devices
   */
  static StandinLab create(int devices, int addresses, Path folder, Map<String, String> settings) {
    StandinLab.Parts parts =
        new StandinLab.Parts(BuildOutputs.standin(), BuildOutputs.standinControl());
    Skip.unless(Lab.Kind.NAMESPACES);
    return StandinLab.create(
        Lab.Kind.NAMESPACES, 2, devices, addresses, parts, folder.resolve("fabric"), settings);
  }
}
