package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;

/**
 * A possible move.
 *
 * @param flow index of the flow in the snapshot
 * @param to index of the list in the snapshot
 * @param listId the list's number
 * @param home whether the flow's hash would choose this list
 * @param predicted utilisation of the policy's busiest list after the move
 * @param busiest number of lists with that utilisation
 */
record MoveCandidate(
    int flow,
    ElephantFlow elephant,
    int to,
    int listId,
    boolean home,
    double predicted,
    int busiest) {}
