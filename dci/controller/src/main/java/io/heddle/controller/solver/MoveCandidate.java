package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;

/**
 * A move that could be made.
 *
 * @param flow index of the flow among the snapshot's
 * @param to index of the list among the snapshot's
 * @param listId the list's number
 * @param home whether the flow's hash would put it there
 * @param predicted utilisation of the policy's busiest list after it
 * @param busiest how many of its lists have that utilisation then
 */
record MoveCandidate(
    int flow,
    ElephantFlow elephant,
    int to,
    int listId,
    boolean home,
    double predicted,
    int busiest) {}
