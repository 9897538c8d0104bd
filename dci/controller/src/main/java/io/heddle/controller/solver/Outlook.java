package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import java.util.ArrayList;
import java.util.List;

/**
 * How busy a segment list is, and will be.
 *
 * @param list its number
 * @param now utilisation of its busiest link, 0 to 1 and more
 * @param after the same once all decisions are carried out
 */
public record Outlook(String policy, int list, double now, double after) {
  /** For each list of a snapshot, in its order. */
  public static List<Outlook> of(NetworkSnapshot snapshot, List<Decision> decisions) {
    Loads before = new Loads(snapshot);
    Loads after = new Loads(snapshot);
    for (Decision each : decisions) {
      int flow = after.flow(each.flow());
      if (flow < 0) {
        continue;
      }
      ElephantFlow elephant = after.flows().get(flow);
      int id =
          switch (each) {
            case Decision.Move move -> move.to();
            case Decision.Withdrawal gone -> elephant.hashList();
          };
      int to = after.list(elephant.policy(), id);
      if (to >= 0) {
        after.move(flow, to);
      }
    }
    List<Outlook> all = new ArrayList<>();
    for (PathList each : snapshot.lists()) {
      int index = before.list(each.policy(), each.id());
      all.add(
          new Outlook(
              each.policy(), each.id(), before.utilisation(index), after.utilisation(index)));
    }
    return all;
  }
}
