package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.verbs.Gid;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Those behind a device, who ask by its manager and get the number of a queue pair of the bridge.
 */
final class DeviceAskers implements Askers {
  private static final long AGAIN_NS = 500_000_000;

  private final int side;
  private final long counters;
  private final MappedEnd end;
  private final NumberService service;
  private final FarEnd far;
  private final NumberMap numbers;
  private final RandomGenerator ids;
  private final Map<Integer, Asked> asked = new LinkedHashMap<>();
  private StandIns standIns = StandIns.NONE;

  /** Asks a host of the other fabric. */
  interface FarEnd {
    /**
     * @param hosts from which address, and which
     * @return whether it has to be asked again, since the question may be lost
     */
    boolean ask(int id, NumberService.Question question, Hosts hosts, long nowNs);
  }

  private static final class Asked {
    private final int id;
    private final NumberService.Question question;
    private final Hosts hosts;
    private final long deadlineNs;
    private long againNs;

    private Asked(int id, NumberService.Question question, Hosts hosts, long nowNs) {
      this.id = id;
      this.question = question;
      this.hosts = hosts;
      deadlineNs = nowNs + SidrRequests.WAIT_NS;
      againNs = nowNs;
    }
  }

  /**
   * @param side their fabric, 0 for a
   * @param counters of what comes from it
   * @param end of that fabric
   * @param service of that fabric
   * @param ids where the bridge's own request ids come from
   */
  DeviceAskers(
      int side,
      long counters,
      MappedEnd end,
      NumberService service,
      FarEnd far,
      NumberMap numbers,
      RandomGenerator ids) {
    this.side = side;
    this.counters = counters;
    this.end = end;
    this.service = service;
    this.far = far;
    this.numbers = numbers;
    this.ids = ids;
  }

  @Override
  public void use(StandIns now) {
    standIns = now;
  }

  /** One of them asks. */
  void ask(NumberService.Question question, long nowNs) {
    Gid address = question.address();
    Gid client = question.client();
    Gid host = standIns.hostOf(side, address.high(), address.low());
    Gid from = standIns.addressOf(side, client.high(), client.low());
    UnicastCounters.requested(counters, false);
    if (host == null
        || from == null
        || host.isIpv4Mapped() != from.isIpv4Mapped()
        || asked.size() >= QueuePairOne.MOST_REQUESTS) {
      GroupCounters.arrived(counters, 1);
      GroupCounters.dropped(counters, DropReason.NO_STAND_IN, 1);
      service.refuse(question.id());
      return;
    }
    int id = ids.nextInt();
    while (asked.containsKey(id)) {
      id = ids.nextInt();
    }
    asked.put(id, new Asked(id, question, new Hosts(from, host), nowNs));
    count();
  }

  private void count() {
    UnicastCounters.requests(counters, asked.size(), 0);
  }

  /** Who was asked by such a question, from which address; null where none waits. */
  @Nullable Hosts hostsOf(int id) {
    Asked question = asked.get(id);
    return question == null ? null : question.hosts;
  }

  @Override
  public void answered(NumberService.Answer answer, long nowNs) {
    Asked question = asked.remove(answer.token());
    if (question == null) {
      return;
    }
    UnicastCounters.replied(counters);
    int index =
        answer.status() == SidrReply.STATUS_SUCCESS
            ? numbers.serve(
                side,
                new Hosts(question.question.client(), question.hosts.destination()),
                answer.number(),
                answer.key(),
                nowNs)
            : NumberMap.NONE;
    if (index == NumberMap.NONE) {
      service.refuse(question.question.id());
    } else {
      service.accept(question.question.id(), end.numberOf(index), answer.privateData());
    }
    count();
  }

  @Override
  public void expire(long nowNs) {
    if (asked.isEmpty()) {
      return;
    }
    for (Iterator<Asked> all = asked.values().iterator(); all.hasNext(); ) {
      Asked each = all.next();
      if (nowNs - each.deadlineNs >= 0) {
        all.remove();
        UnicastCounters.timedOut(counters);
        service.refuse(each.question.id());
      } else if (nowNs - each.againNs >= 0) {
        boolean again = far.ask(each.id, each.question, each.hosts, nowNs);
        each.againNs = again ? nowNs + AGAIN_NS : each.deadlineNs;
      }
    }
    count();
  }
}
