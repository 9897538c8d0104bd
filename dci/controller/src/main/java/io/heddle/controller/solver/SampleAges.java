package io.heddle.controller.solver;

import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;

/**
 * Ages of the samples behind a decision on a policy.
 *
 * @param oldestNs age of the oldest sample
 * @param oldest gateway or link of the oldest sample, for messages
 * @param newestSampleNs time of the newest sample of a link
 */
record SampleAges(long oldestNs, String oldest, long newestSampleNs) {
  static SampleAges of(SteeredPolicy policy, NetworkSnapshot snapshot, Loads loads) {
    long oldestNs = snapshot.nowNs() - policy.sampledNs();
    String oldest = "gateway " + policy.gateway();
    long newest = Long.MIN_VALUE;
    for (int list : loads.lists(policy.name())) {
      for (int index : loads.links(list)) {
        WanLink link = snapshot.links().get(index);
        long age = snapshot.nowNs() - link.sampledNs();
        newest = Math.max(newest, link.sampledNs());
        if (age > oldestNs) {
          oldestNs = age;
          oldest = "link " + link.name();
        }
      }
    }
    return new SampleAges(oldestNs, oldest, newest);
  }
}
