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
 * Predicted load of each link: its background traffic, plus the elephants on it after moves. The
 * background is the measured rate minus the link's elephants. A list is as busy as its busiest
 * link. Used by one thread.
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
  /* For each list, the indices of all lists of its policy. Arrays are used for speed. */
  private final int[][] listsOfSamePolicy;
  private final Map<String, List<Integer>> byPolicy = new HashMap<>();
  private final Map<String, List<Integer>> flowsByPolicy = new HashMap<>();
  /* Indices of flows; created on first use. */
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
    listsOfSamePolicy = new int[lists.size()][];
    for (List<Integer> each : byPolicy.values()) {
      int[] own = each.stream().mapToInt(Integer::intValue).toArray();
      each.forEach(list -> listsOfSamePolicy[list] = own);
    }
    listOf = new int[flows.size()];
    for (int i = 0; i < flows.size(); i++) {
      ElephantFlow flow = flows.get(i);
      listOf[i] = list(flow.policy(), flow.list());
      flowsByPolicy.computeIfAbsent(flow.policy(), any -> new ArrayList<>()).add(i);
      add(listOf[i], flow.rate());
    }
    for (int i = 0; i < links.size(); i++) {
      /* The elephants exceed the measured rate if their report is newer than the measurement. */
      rate[i] = Math.max(rate[i], links.get(i).rate());
    }
  }

  /** Returns the index of the policy's list with this id; −1 if there is none. */
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

  /** Returns the indices of a policy's lists. */
  List<Integer> lists(String policy) {
    return byPolicy.getOrDefault(policy, List.of());
  }

  /** Returns the indices of a list's links in the snapshot. */
  int[] links(int list) {
    return linksOf[list];
  }

  List<ElephantFlow> flows() {
    return flows;
  }

  /** Returns the indices of a policy's flows. */
  List<Integer> flows(String policy) {
    return flowsByPolicy.getOrDefault(policy, List.of());
  }

  /** Returns the index of a flow; −1 if there is none. */
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

  /** Returns the index of the list that a flow is on, after all moves so far. */
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

  /** Returns the utilisation of the list's busiest link; 1 is full, more is overload. */
  double utilisation(int list) {
    double most = 0;
    for (int link : linksOf[list]) {
      most = Math.max(most, rate[link] / capacity[link]);
    }
    return most;
  }

  /** Returns the utilisation of a policy's busiest list. */
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

  /** Returns how many lists of a policy are as busy as its busiest list. */
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
    return those.isEmpty() ? NONE : listsOfSamePolicy[those.getFirst()];
  }

  /**
   * Returns a lower bound for the utilisation of the policy's busiest list after a move, even if
   * other moves make room on the target list. It is the maximum over the links that aren't on the
   * target list.
   */
  double lowerBoundAfter(int flow, int to) {
    int from = listOf[flow];
    double leaves = flows.get(flow).rate();
    double most = 0;
    for (int list : listsOfSamePolicy[to]) {
      for (int link : linksOf[list]) {
        if (!usesLink(to, link)) {
          double left = usesLink(from, link) ? rate[link] - leaves : rate[link];
          most = Math.max(most, left / capacity[link]);
        }
      }
    }
    return most;
  }

  private boolean usesLink(int list, int link) {
    for (int each : linksOf[list]) {
      if (each == link) {
        return true;
      }
    }
    return false;
  }

  /** Returns the utilisation of the policy's busiest list after a move. */
  double predicted(int flow, int to) {
    int from = listOf[flow];
    move(flow, to);
    double most = maximum(listsOfSamePolicy[to]);
    move(flow, from);
    return most;
  }

  /**
   * Returns the outcome of a move. Other policies needn't be checked: the move only adds load to
   * links of this policy's lists, so it can't raise another list above this policy's maximum.
   */
  MoveCandidate outcome(int flow, int to) {
    ElephantFlow elephant = flows.get(flow);
    int from = listOf[flow];
    move(flow, to);
    double most = maximum(listsOfSamePolicy[to]);
    int busiest = busiest(listsOfSamePolicy[to], most);
    move(flow, from);
    int id = lists.get(to).id();
    return new MoveCandidate(flow, elephant, to, id, id == elephant.hashList(), most, busiest);
  }
}
