package io.heddle.bridge.fabric;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;

/**
 * How the network learns that a port of libibverbs takes a group: its queue pair alone is no member
 * that a switch knows. The control thread's.
 */
interface GroupJoin extends AutoCloseable {
  /** By what, for people. */
  String describe();

  /**
   * Becomes a member, and stays one.
   *
   * @throws HeddleException where it isn't allowed to
   */
  void join(Gid group);

  void leave(Gid group);

  /** What has become of the memberships: what is wrong, in words; empty for nothing. */
  String look();

  @Override
  void close();
}
