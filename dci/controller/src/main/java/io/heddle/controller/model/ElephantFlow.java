package io.heddle.controller.model;

/**
 * Flow of a high rate, as its gateway reports it.
 *
 * @param policy SRv6 policy that the flow belongs to
 * @param rate rate of the flow in bits per second
 * @param list segment list that the flow is on
 * @param hashList segment list that the flow's hash would choose without a rule
 */
public record ElephantFlow(FlowId id, String policy, double rate, int list, int hashList) {}
