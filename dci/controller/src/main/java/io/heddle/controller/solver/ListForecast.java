package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Load of a segment list, now and after the decisions.
 *
 * @param list id of the list at its gateway
 * @param now utilisation of the list's busiest link; 1 is full, more is overload
 * @param after predicted utilisation once all decisions are applied
 */
public record ListForecast(String policy, int list, double now, double after) {
  /** Returns the forecast of each list, in the snapshot's order. */
  public static List<ListForecast> of(NetworkSnapshot snapshot, List<Decision> decisions) {
    Loads loads = new Loads(snapshot);
    double[] now = utilisations(snapshot, loads);
    for (Decision each : decisions) {
      int flow = loads.flow(each.flow());
      if (flow < 0) {
        continue;
      }
      ElephantFlow elephant = loads.flows().get(flow);
      int id =
          switch (each) {
            case Decision.Move move -> move.to();
            case Decision.Withdrawal gone -> elephant.hashList();
          };
      int to = loads.list(elephant.policy(), id);
      if (to >= 0) {
        loads.move(flow, to);
      }
    }
    double[] after = utilisations(snapshot, loads);
    List<ListForecast> all = new ArrayList<>();
    for (int i = 0; i < now.length; i++) {
      PathList list = snapshot.lists().get(i);
      all.add(new ListForecast(list.policy(), list.id(), now[i], after[i]));
    }
    return all;
  }

  private static double[] utilisations(NetworkSnapshot snapshot, Loads loads) {
    return IntStream.range(0, snapshot.lists().size()).mapToDouble(loads::utilisation).toArray();
  }
}
