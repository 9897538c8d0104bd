package io.heddle.gateway.flow;

import io.heddle.dataplane.FlowRecord;
import io.heddle.gateway.config.ElephantRules;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rates of queue pairs, from what the data plane counted at each look, and which are elephants. A
 * flow is one when its rate over a whole period reaches the threshold. It ends below half of it, or
 * after silence: so a rate near the threshold doesn't make it come and go. One thread.
 */
public final class FlowWatch {
  /** The destination's name space of queue pairs, and the policy. */
  private record Key(InetAddress destination, int queuePair, int policy) {}

  private final ElephantRules rules;
  private Map<Key, Watched> watched = new HashMap<>();

  public FlowWatch(ElephantRules rules) {
    this.rules = rules;
  }

  /**
   * @param flows all that the data plane has; those that it has no more are forgotten
   * @param nowNs when they were read
   * @return each with its rate, in the order given
   */
  public List<MeasuredFlow> look(List<FlowRecord> flows, long nowNs) {
    Map<Key, Watched> kept = HashMap.newHashMap(flows.size());
    List<MeasuredFlow> rates = new ArrayList<>(flows.size());
    for (FlowRecord flow : flows) {
      Key key = new Key(flow.destination(), flow.queuePair(), flow.policy());
      Watched one = watched.get(key);
      /* The data plane forgot it and met it again: it counts from nothing. */
      if (one == null || one.firstNs != flow.firstNs()) {
        one = new Watched(flow.firstNs());
      }
      kept.put(key, one);
      rates.add(one.look(flow, nowNs, rules));
    }
    watched = kept;
    return rates;
  }

  /** Looks at one flow, over little more than a period. */
  private static final class Watched {
    private static final int LOOKS = 64;

    private final long firstNs;
    private final long[] times = new long[LOOKS];
    private final long[] bytes = new long[LOOKS];
    private int newest = -1;
    private int count;
    private boolean elephant;

    Watched(long firstNs) {
      this.firstNs = firstNs;
    }

    MeasuredFlow look(FlowRecord flow, long nowNs, ElephantRules rules) {
      /* The begin of the period: the youngest look that is a period old, or else the flow's begin. */
      long beginNs = firstNs;
      long beginBytes = 0;
      for (int back = 0; back < count; back++) {
        int at = newest - back & LOOKS - 1;
        if (nowNs - times[at] >= rules.periodNs()) {
          beginNs = times[at];
          beginBytes = bytes[at];
          break;
        }
      }
      newest = newest + 1 & LOOKS - 1;
      times[newest] = nowNs;
      bytes[newest] = flow.bytes();
      count = Math.min(count + 1, LOOKS - 1);
      long passedNs = Math.max(nowNs - beginNs, rules.periodNs());
      long rate = (long) ((flow.bytes() - beginBytes) * 8e9 / passedNs);
      if (nowNs - flow.lastNs() >= rules.silenceNs()) {
        elephant = false;
      } else if (elephant) {
        elephant = rate >= rules.bitsPerSecond() / 2;
      } else {
        elephant = rate >= rules.bitsPerSecond();
      }
      return new MeasuredFlow(flow, rate, elephant);
    }
  }
}
