package io.heddle.systemtests;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.tools.lab.StandinLab;
import java.nio.file.Path;
import java.util.Map;

/** Two hosts in network namespaces whose verbs devices are the stand-in's. */
final class StandinHosts {
  private StandinHosts() {}

  /**
   * @param addresses of each device, one plane each
   * @param settings STANDIN variables, except those that define the devices
   */
  static StandinLab create(int devices, int addresses, Path folder, Map<String, String> settings) {
    StandinLab.Parts parts =
        new StandinLab.Parts(BuildOutputs.standin(), BuildOutputs.standinControl());
    Skip.unless(Lab.Kind.NAMESPACES);
    return StandinLab.create(
        Lab.Kind.NAMESPACES, 2, devices, addresses, parts, folder.resolve("fabric"), settings);
  }
}
