package io.heddle.controller.solver;

/**
 * Busiest and least busy list of a policy.
 *
 * @param busiest id of the busiest list; −1 if the policy has no list
 * @param most utilisation of the busiest list
 * @param idlest id of the least busy list that is up; −1 if none is up
 * @param least utilisation of the least busy list
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
