package io.heddle.gateway.flow;

import io.heddle.gateway.config.ElephantRules;
import io.heddle.gateway.dataplane.FlowRecord;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Calculator of flows' rates from the data plane's counts, and detector of elephants. A flow
 * becomes an elephant when its rate over a whole period reaches the threshold. It stops being one
 * below half the threshold, or after silence, so that a rate near the threshold doesn't toggle it.
 * Used by one thread.
 */
public final class FlowWatch {
  /** Key of a flow: queue pair numbers are unique per destination. */
  private record Key(InetAddress destination, int queuePair, int policy) {}

  private final ElephantRules rules;
  private Map<Key, FlowSamples> watched = new HashMap<>();

  public FlowWatch(ElephantRules rules) {
    this.rules = rules;
  }

  /**
   * Takes a sample.
   *
   * @param flows all flows that the data plane has; other flows are forgotten
   * @param nowNs time when the flows were read, by {@link System#nanoTime}
   * @return the flows with their rates, in the given order
   */
  public List<MeasuredFlow> sample(List<FlowRecord> flows, long nowNs) {
    Map<Key, FlowSamples> kept = HashMap.newHashMap(flows.size());
    List<MeasuredFlow> rates = new ArrayList<>(flows.size());
    for (FlowRecord flow : flows) {
      Key key = new Key(flow.destination(), flow.queuePair(), flow.policy());
      FlowSamples one = watched.get(key);
      /* If the data plane has dropped the flow in between, it counts the flow from zero again. */
      if (one == null || one.firstNs != flow.firstNs()) {
        one = new FlowSamples(flow.firstNs());
      }
      kept.put(key, one);
      rates.add(one.sample(flow, nowNs, rules));
    }
    watched = kept;
    return rates;
  }

  /** Samples of one flow, over little more than a period. */
  private static final class FlowSamples {
    private static final int MOST_SAMPLES = 64;

    private final long firstNs;
    private final long[] times = new long[MOST_SAMPLES];
    private final long[] bytes = new long[MOST_SAMPLES];
    private int newest = -1;
    private int count;
    private boolean elephant;

    FlowSamples(long firstNs) {
      this.firstNs = firstNs;
    }

    MeasuredFlow sample(FlowRecord flow, long nowNs, ElephantRules rules) {
      /*
       * The period begins with the youngest sample that is at least a period old, or with the flow.
       */
      long beginNs = firstNs;
      long beginBytes = 0;
      for (int back = 0; back < count; back++) {
        int at = newest - back & MOST_SAMPLES - 1;
        if (nowNs - times[at] >= rules.periodNs()) {
          beginNs = times[at];
          beginBytes = bytes[at];
          break;
        }
      }
      newest = newest + 1 & MOST_SAMPLES - 1;
      times[newest] = nowNs;
      bytes[newest] = flow.bytes();
      count = Math.min(count + 1, MOST_SAMPLES - 1);
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
