package io.heddle.telemetry.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import org.jspecify.annotations.Nullable;

/**
 * Report of an elephant, that is, a large flow. A flow consists of the packets to one queue pair.
 *
 * @param queuePair number of the queue pair, unique only per destination
 * @param policy name of the SRv6 policy
 * @param colour colour of the policy; 0 if it has none
 * @param endpoint endpoint of the policy; null if it has none
 * @param octets IP bytes since the flow was first seen
 * @param packets number of packets since the flow was first seen
 * @param bitsPerSecond IP bits per second, over the gateway's measuring period
 * @param list id of the list that the flow's last packet took; 0 for none
 * @param listByHash id of the list that the flow's hash alone would choose; 0 for none
 * @param steeredBy owner of the rule that chose the list; null if the hash chose it
 * @param flowLabel flow label of the outer header
 * @param outerDestination destination of the outer header: the first segment
 * @param firstSeen time of the first packet, in ISO 8601
 * @param lastSeen time of the last packet, in ISO 8601
 */
public record ElephantReport(
    String destination,
    int queuePair,
    String source,
    int sourcePort,
    String policy,
    long colour,
    @Nullable String endpoint,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long octets,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long packets,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long bitsPerSecond,
    int list,
    int listByHash,
    @Nullable String steeredBy,
    int flowLabel,
    @Nullable String outerDestination,
    String firstSeen,
    String lastSeen) {}
