package io.heddle.telemetry.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment list.
 *
 * @param id the gateway's own number for it
 * @param policy the SRv6 policy's name
 * @param up whether it gets traffic
 * @param reason why not; null where it does
 * @param octets of IP without the encapsulation, since the data plane began
 * @param bitsPerSecond likewise, between the gateway's last two looks
 * @param loss share of the last hundred probes; null where it isn't probed
 * @param roundTripUs the median of the last hundred probes; null where none was answered
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
