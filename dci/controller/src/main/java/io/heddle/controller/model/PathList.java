package io.heddle.controller.model;

import java.util.List;

/**
 * A segment list of a policy.
 *
 * @param id number that its gateway gives it
 * @param links names of the links on its path
 * @param up whether probes get through
 * @param latencyMs round-trip time of probes
 * @param loss share of lost probes, 0 to 1
 */
public record PathList(
    String policy, int id, List<String> links, boolean up, double latencyMs, double loss) {
  public PathList {
    links = List.copyOf(links);
  }
}
