package io.heddle.controller.solver;

/**
 * A policy's busiest and least busy list.
 *
 * @param busiest number of the list; −1 if the policy has none
 * @param idlest number of the list; −1 if none is up
 */
record ListRange(String policy, int busiest, double most, int idlest, double least) {
  static ListRange of(Loads loads, String policy) {
    int busiest = -1;
    int idlest = -1;
    double most = 0;
    double least = 0;
    for (int list : loads.lists(policy)) {
      double utilisation = loads.utilisation(list);
      if (busiest < 0 || utilisation > most) {
        busiest = loads.list(list).id();
        most = utilisation;
      }
      if (loads.list(list).up() && (idlest < 0 || utilisation < least)) {
        idlest = loads.list(list).id();
        least = utilisation;
      }
    }
    return new ListRange(policy, busiest, most, idlest, least);
  }

  boolean isImbalanced(SolverSettings settings) {
    return idlest >= 0
        && most >= settings.high() - Loads.SAME
        && most - least >= settings.gap() - Loads.SAME;
  }

  PolicyVerdict verdict(PolicyVerdict.State state, String sentence) {
    return new PolicyVerdict(policy, state, busiest, most, idlest, least, sentence);
  }
}
