package io.heddle.telemetry.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Report of a segment list.
 *
 * @param id id of the list at the gateway
 * @param policy name of the SRv6 policy
 * @param up whether the list gets traffic
 * @param reason reason why the list gets no traffic; null if it does
 * @param octets IP bytes without the encapsulation, since the data plane started
 * @param packets number of packets since the data plane started
 * @param bitsPerSecond IP bits per second without the encapsulation, between the gateway's last two
 *     samples
 * @param loss share of the last hundred probes that was lost; null if the list isn't probed
 * @param roundTripUs median round trip of the last hundred probes, in microseconds; null if none
 *     was answered
 */
public record ListReport(
    int id,
    String name,
    String policy,
    boolean up,
    @Nullable String reason,
    int weight,
    List<String> segments,
    String device,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long octets,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long packets,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long bitsPerSecond,
    @JsonFormat(shape = JsonFormat.Shape.STRING) @Nullable Double loss,
    @JsonFormat(shape = JsonFormat.Shape.STRING) @Nullable Double roundTripUs) {}
