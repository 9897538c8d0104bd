package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;

/**
 * Possible move of a flow to another list.
 *
 * @param flow index of the flow in the snapshot
 * @param to index of the target list in the snapshot
 * @param listId id of the target list at its gateway
 * @param home whether the flow's hash would choose the target list
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
