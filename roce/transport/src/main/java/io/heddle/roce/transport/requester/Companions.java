package io.heddle.roce.transport.requester;

import java.util.ArrayList;
import java.util.List;

/**
 * The queue pairs that lead to one peer by different ways. While none of them hears anything, the
 * peer is slow; where one hears and another doesn't, a way is lost. Under the progress lock, but
 * for the count of users, which is the control path's.
 */
public final class Companions {
  private final List<Requester> members = new ArrayList<>();

  /* Queue pairs that will leave, or have left, but aren't closed. */
  private int users;

  /** One more queue pair will join; control path. */
  public void use() {
    users++;
  }

  /** One of them is closed, or has others. Returns whether it was the last; control path. */
  public boolean useNoMore() {
    return --users == 0;
  }

  void join(Requester qp) {
    members.add(qp);
  }

  void leave(Requester qp) {
    members.remove(qp);
  }

  /** When something of the peer's came last, by whichever. */
  long heardAtNs() {
    long latest = members.getFirst().heardAtNs();
    for (int i = 1; i < members.size(); i++) {
      long each = members.get(i).heardAtNs();
      latest = each - latest > 0 ? each : latest;
    }
    return latest;
  }

  /** When the newest packet was sent that the peer is known to have, by whichever. */
  long reachedAtNs() {
    long latest = members.getFirst().reachedAtNs();
    for (int i = 1; i < members.size(); i++) {
      long each = members.get(i).reachedAtNs();
      latest = each - latest > 0 ? each : latest;
    }
    return latest;
  }

  /** Asks the peer whether it is there, by each that has nothing under way: the others ask. */
  void ask(long nowNs) {
    for (int i = 0; i < members.size(); i++) {
      members.get(i).askIfIdle(nowNs);
    }
  }
}
