package io.heddle.perftest;

import io.heddle.verbs.Gid;

/**
 * A local address that queue pairs of the test are pinned to: that of a plane, or the one that the
 * GID index names.
 *
 * @param key the plane's key; empty where no planes were asked for
 */
record Lane(String key, Gid gid, int gidIndex) {
  @Override
  public String toString() {
    return key.isEmpty() ? gid.toString() : "plane " + key + " (" + gid + ")";
  }
}
