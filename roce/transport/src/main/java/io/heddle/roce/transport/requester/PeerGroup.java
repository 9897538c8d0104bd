package io.heddle.roce.transport.requester;

import java.util.ArrayList;
import java.util.List;

/**
 * Queue pairs to one peer over different paths. While none receives anything, the peer is slow; if
 * only some receive, the others' paths have failed. Used under the progress lock, except the user
 * count, which belongs to the control path.
 */
public final class PeerGroup {
  private final List<Requester> members = new ArrayList<>();

  /*
   * Number of open queue pairs of the group, including those that haven't joined yet or have left.
   */
  private int users;

  /** Counts a queue pair that will join. Called on the control path. */
  public void addUser() {
    users++;
  }

  /**
   * Removes a counted queue pair, which was closed or has changed its group. Returns whether it was
   * the last. Called on the control path.
   */
  public boolean removeUser() {
    return --users == 0;
  }

  void join(Requester qp) {
    members.add(qp);
  }

  void leave(Requester qp) {
    members.remove(qp);
  }

  /** Returns the time of the last packet from the peer on any queue pair of the group. */
  long heardAtNs() {
    long latest = members.getFirst().heardAtNs();
    for (int i = 1; i < members.size(); i++) {
      long each = members.get(i).heardAtNs();
      latest = each - latest > 0 ? each : latest;
    }
    return latest;
  }

  /**
   * Returns the send time of the newest packet that the peer is known to have, on any queue pair of
   * the group.
   */
  long reachedAtNs() {
    long latest = members.getFirst().reachedAtNs();
    for (int i = 1; i < members.size(); i++) {
      long each = members.get(i).reachedAtNs();
      latest = each - latest > 0 ? each : latest;
    }
    return latest;
  }

  /** Probes the peer on each idle queue pair; busy ones probe by themselves. */
  void probe(long nowNs) {
    for (int i = 0; i < members.size(); i++) {
      members.get(i).probeIfIdle(nowNs);
    }
  }
}
