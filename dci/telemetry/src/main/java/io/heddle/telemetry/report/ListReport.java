package io.heddle.telemetry.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment list.
 *
 * @param id number that the gateway gives it
 * @param policy name of the SRv6 policy
 * @param up whether it gets traffic
 * @param reason why not; null if it does
 * @param octets of IP without the encapsulation, since the data plane started
 * @param bitsPerSecond likewise, between the gateway's last two samples
 * @param loss share of the last hundred probes; null if it isn't probed
 * @param roundTripUs median of the last hundred probes; null if none was answered
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
