package io.heddle.perftest;

import io.heddle.verbs.Gid;

/**
 * Local address to which queue pairs of the test are pinned: the address of a plane or of the GID
 * index.
 *
 * @param key the plane's key; empty if no planes were requested
 */
record Lane(String key, Gid gid, int gidIndex) {
  @Override
  public String toString() {
    return key.isEmpty() ? gid.toString() : "plane " + key + " (" + gid + ")";
  }
}
