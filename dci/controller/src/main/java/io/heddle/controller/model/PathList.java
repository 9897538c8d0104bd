package io.heddle.controller.model;

import java.util.List;

/**
 * Segment list of a policy.
 *
 * @param id id of the list at its gateway
 * @param links names of the links on its path
 * @param up whether the gateway reports the list as alive
 * @param latencyMs round-trip time of probes; 0 if unknown
 * @param loss share of lost probes, 0 to 1
 */
public record PathList(
    String policy, int id, List<String> links, boolean up, double latencyMs, double loss) {
  public PathList {
    links = List.copyOf(links);
  }
}
