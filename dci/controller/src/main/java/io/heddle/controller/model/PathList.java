package io.heddle.controller.model;

import java.util.List;

/**
 * A segment list of a policy.
 *
 * @param id by its gateway's own number
 * @param links names of the links that it leads over
 * @param up whether probes get through
 * @param latencyMs round trip, by probes
 * @param loss share of probes that were lost, 0 to 1
 */
public record PathList(
    String policy, int id, List<String> links, boolean up, double latencyMs, double loss) {
  public PathList {
    links = List.copyOf(links);
  }
}
