package io.heddle.controller.model;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * State of the network at one moment.
 *
 * @param nowNs time of the snapshot
 */
public record NetworkSnapshot(
    long nowNs,
    List<SteeredPolicy> policies,
    List<PathList> lists,
    List<WanLink> links,
    List<ElephantFlow> flows) {
  /**
   * Checks the snapshot.
   *
   * @throws IllegalArgumentException if a referenced name doesn't exist, a name is used twice, or a
   *     value is out of range
   */
  public NetworkSnapshot {
    policies = List.copyOf(policies);
    lists = List.copyOf(lists);
    links = List.copyOf(links);
    flows = List.copyOf(flows);
    Set<String> linkNames = new HashSet<>();
    links.forEach(each -> requireUnique(linkNames, each.name(), "link"));
    Set<String> policyNames = new HashSet<>();
    policies.forEach(each -> requireUnique(policyNames, each.name(), "policy"));
    Map<String, Set<Integer>> listIds = new HashMap<>();
    for (PathList each : lists) {
      require(policyNames.contains(each.policy()), "list " + each.id(), "policy", each.policy());
      if (!listIds.computeIfAbsent(each.policy(), any -> new HashSet<>()).add(each.id())) {
        throw twice("segment list", each.policy() + " list " + each.id());
      }
      for (String link : each.links()) {
        require(linkNames.contains(link), "list " + each.id(), "link", link);
      }
      if (each.links().isEmpty()) {
        throw new IllegalArgumentException("list " + each.id() + " has no links");
      }
    }
    Set<FlowId> flowIds = new HashSet<>();
    for (ElephantFlow each : flows) {
      if (!listIds.getOrDefault(each.policy(), Set.of()).contains(each.list())) {
        throw absent(each.id().toString(), "segment list", each.policy() + " list " + each.list());
      }
      if (!flowIds.add(each.id())) {
        throw new IllegalArgumentException(each.id() + " is listed twice");
      }
      if (!(each.rate() >= 0)) {
        throw new IllegalArgumentException(each.id() + " has a rate of " + each.rate());
      }
    }
  }

  private static void requireUnique(Set<String> names, String name, String kind) {
    if (!names.add(name)) {
      throw twice(kind, name);
    }
  }

  private static IllegalArgumentException twice(String kind, String name) {
    return new IllegalArgumentException(kind + " " + name + " is defined twice");
  }

  private static void require(boolean there, String user, String kind, String name) {
    if (!there) {
      throw absent(user, kind, name);
    }
  }

  private static IllegalArgumentException absent(String user, String kind, String name) {
    return new IllegalArgumentException(
        user + " names " + kind + " " + name + ", which doesn't exist");
  }
}
