package io.heddle.gateway.flow;

import io.heddle.dataplane.FlowRecord;

/**
 * @param bitsPerSecond of IP, over the last period
 * @param elephant whether it is an elephant by the rules
 */
public record MeasuredFlow(FlowRecord flow, long bitsPerSecond, boolean elephant) {}
