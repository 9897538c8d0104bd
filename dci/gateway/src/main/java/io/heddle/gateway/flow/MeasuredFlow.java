package io.heddle.gateway.flow;

import io.heddle.dataplane.FlowRecord;

/**
 * @param bitsPerSecond of IP, over the last period
 * @param elephant whether the rules call it one
 */
public record MeasuredFlow(FlowRecord flow, long bitsPerSecond, boolean elephant) {}
