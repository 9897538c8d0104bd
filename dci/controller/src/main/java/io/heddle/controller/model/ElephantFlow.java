package io.heddle.controller.model;

/**
 * A large flow, as its gateway reports it.
 *
 * @param policy the SRv6 policy that it belongs to
 * @param rate in bits per second
 * @param list segment list that it is on
 * @param hashList segment list that its hash would choose without a rule
 */
public record ElephantFlow(FlowId id, String policy, double rate, int list, int hashList) {}
