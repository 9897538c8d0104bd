package io.heddle.telemetry.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import org.jspecify.annotations.Nullable;

/**
 * A large flow: the packets of one queue pair.
 *
 * @param queuePair unique only per destination
 * @param policy name of the SRv6 policy
 * @param colour of the policy; 0 if it has none
 * @param endpoint of the policy
 * @param octets of IP since it was first seen
 * @param bitsPerSecond of IP, over the gateway's period
 * @param list id of the list that its last packet took; 0 for none
 * @param listByHash id of the list that its hash alone would choose; 0 for none
 * @param steeredBy owner of the rule that chose the list; null if its hash did
 * @param flowLabel of the outer header
 * @param outerDestination the first segment
 * @param firstSeen ISO 8601
 * @param lastSeen ISO 8601
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
