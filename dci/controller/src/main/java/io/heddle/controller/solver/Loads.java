package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.WanLink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What each link would carry: its background, which is what was measured less its elephants, and
 * the elephants where moves would put them. A list is as busy as the busiest of its links. One
 * thread.
 */
final class Loads {
  static final double SAME = 1e-9;
  private static final int[] NONE = {};

  private final List<PathList> lists;
  private final List<ElephantFlow> flows;
  private final int[][] linksOf;
  private final double[] capacity;
  private final double[] rate;
  private final int[] listOf;
  /* By list, the lists of its policy; what is tried is asked of them each time. */
  private final int[][] beside;
  private final Map<String, List<Integer>> byPolicy = new HashMap<>();
  private final Map<String, List<Integer>> flowsByPolicy = new HashMap<>();
  /* Made when it is first asked for. */
  private @Nullable Map<FlowId, Integer> byId;

  Loads(NetworkSnapshot snapshot) {
    lists = snapshot.lists();
    flows = snapshot.flows();
    List<WanLink> links = snapshot.links();
    Map<String, Integer> linkIndex = new HashMap<>();
    capacity = new double[links.size()];
    rate = new double[links.size()];
    for (int i = 0; i < links.size(); i++) {
      linkIndex.put(links.get(i).name(), i);
      capacity[i] = links.get(i).capacity();
    }
    linksOf = new int[lists.size()][];
    for (int i = 0; i < lists.size(); i++) {
      PathList list = lists.get(i);
      linksOf[i] = list.links().stream().distinct().mapToInt(linkIndex::get).toArray();
      byPolicy.computeIfAbsent(list.policy(), any -> new ArrayList<>()).add(i);
    }
    beside = new int[lists.size()][];
    for (List<Integer> each : byPolicy.values()) {
      int[] own = each.stream().mapToInt(Integer::intValue).toArray();
      each.forEach(list -> beside[list] = own);
    }
    listOf = new int[flows.size()];
    for (int i = 0; i < flows.size(); i++) {
      ElephantFlow flow = flows.get(i);
      listOf[i] = list(flow.policy(), flow.list());
      flowsByPolicy.computeIfAbsent(flow.policy(), any -> new ArrayList<>()).add(i);
      add(listOf[i], flow.rate());
    }
    for (int i = 0; i < links.size(); i++) {
      /* Elephants beyond what was measured are newer than the measurement. */
      rate[i] = Math.max(rate[i], links.get(i).rate());
    }
  }

  /** Index of a list; −1 where there is none such. */
  int list(String policy, int id) {
    for (int list : lists(policy)) {
      if (lists.get(list).id() == id) {
        return list;
      }
    }
    return -1;
  }

  PathList list(int index) {
    return lists.get(index);
  }

  /** Indices of a policy's lists. */
  List<Integer> lists(String policy) {
    return byPolicy.getOrDefault(policy, List.of());
  }

  /** Indices of a list's links among the snapshot's. */
  int[] links(int list) {
    return linksOf[list];
  }

  List<ElephantFlow> flows() {
    return flows;
  }

  /** Indices of a policy's flows. */
  List<Integer> flows(String policy) {
    return flowsByPolicy.getOrDefault(policy, List.of());
  }

  /** Index of a flow; −1 where there is none such. */
  int flow(FlowId id) {
    Map<FlowId, Integer> known = byId;
    if (known == null) {
      known = new HashMap<>();
      for (int i = 0; i < flows.size(); i++) {
        known.put(flows.get(i).id(), i);
      }
      byId = known;
    }
    return known.getOrDefault(id, -1);
  }

  /** Index of the list that a flow is on, moves included. */
  int listOf(int flow) {
    return listOf[flow];
  }

  private void add(int list, double more) {
    for (int link : linksOf[list]) {
      rate[link] += more;
    }
  }

  void move(int flow, int to) {
    double moved = flows.get(flow).rate();
    add(listOf[flow], -moved);
    add(to, moved);
    listOf[flow] = to;
  }

  /** Of its busiest link; 0 to 1, or more where it is offered more. */
  double utilisation(int list) {
    double most = 0;
    for (int link : linksOf[list]) {
      most = Math.max(most, rate[link] / capacity[link]);
    }
    return most;
  }

  /** Of a policy's busiest list. */
  double maximum(String policy) {
    return maximum(indices(policy));
  }

  private double maximum(int[] those) {
    double most = 0;
    for (int list : those) {
      most = Math.max(most, utilisation(list));
    }
    return most;
  }

  /** How many of a policy's lists are as busy as its busiest. */
  int busiest(String policy) {
    return busiest(indices(policy), maximum(policy));
  }

  private int busiest(int[] those, double most) {
    int count = 0;
    for (int list : those) {
      count += utilisation(list) >= most - SAME ? 1 : 0;
    }
    return count;
  }

  private int[] indices(String policy) {
    List<Integer> those = lists(policy);
    return those.isEmpty() ? NONE : beside[those.getFirst()];
  }

  /**
   * What the policy's busiest list has at least once a flow is moved, however much room is made
   * where it comes to: the most on links that don't lead there.
   */
  double atLeast(int flow, int to) {
    int from = listOf[flow];
    double leaves = flows.get(flow).rate();
    double most = 0;
    for (int list : beside[to]) {
      for (int link : linksOf[list]) {
        if (!leadsOver(to, link)) {
          double left = leadsOver(from, link) ? rate[link] - leaves : rate[link];
          most = Math.max(most, left / capacity[link]);
        }
      }
    }
    return most;
  }

  private boolean leadsOver(int list, int link) {
    for (int each : linksOf[list]) {
      if (each == link) {
        return true;
      }
    }
    return false;
  }

  /** The utilisation of the policy's busiest list that a move would leave. */
  double predicted(int flow, int to) {
    int from = listOf[flow];
    move(flow, to);
    double most = maximum(beside[to]);
    move(flow, from);
    return most;
  }

  /**
   * What a move would leave. No other policy's list gets busier than the policy's own busiest: a
   * move fills links of one of the policy's own lists.
   */
  MoveCandidate tried(int flow, int to) {
    ElephantFlow elephant = flows.get(flow);
    int from = listOf[flow];
    move(flow, to);
    double most = maximum(beside[to]);
    int busiest = busiest(beside[to], most);
    move(flow, from);
    int id = lists.get(to).id();
    return new MoveCandidate(flow, elephant, to, id, id == elephant.hashList(), most, busiest);
  }
}
