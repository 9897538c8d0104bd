package io.heddle.controller.solver;

import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import java.util.HashSet;
import java.util.Set;

/**
 * How old the samples are that a policy is judged by.
 *
 * @param oldestNs age of the oldest
 * @param oldest whose it is, for people
 * @param newestSampleNs when the newest of links was taken
 */
record Ages(long oldestNs, String oldest, long newestSampleNs) {
  static Ages of(SteeredPolicy policy, NetworkSnapshot snapshot) {
    Set<String> names = new HashSet<>();
    for (PathList each : snapshot.lists()) {
      if (each.policy().equals(policy.name())) {
        names.addAll(each.links());
      }
    }
    long oldestNs = snapshot.nowNs() - policy.sampledNs();
    String oldest = "gateway " + policy.gateway();
    long newest = Long.MIN_VALUE;
    for (WanLink link : snapshot.links()) {
      if (names.contains(link.name())) {
        long age = snapshot.nowNs() - link.sampledNs();
        newest = Math.max(newest, link.sampledNs());
        if (age > oldestNs) {
          oldestNs = age;
          oldest = "link " + link.name();
        }
      }
    }
    return new Ages(oldestNs, oldest, newest);
  }
}
