package io.heddle.gateway.flow;

import io.heddle.gateway.dataplane.FlowRecord;

/**
 * Flow with its rate.
 *
 * @param flow counts of the data plane
 * @param bitsPerSecond rate of IP bits over the last period
 * @param elephant whether the flow is an elephant by {@link io.heddle.gateway.config.ElephantRules}
 */
public record MeasuredFlow(FlowRecord flow, long bitsPerSecond, boolean elephant) {}
