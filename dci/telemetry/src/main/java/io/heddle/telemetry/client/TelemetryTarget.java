package io.heddle.telemetry.client;

import io.heddle.telemetry.gnmi.ReportPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Target of a subscription.
 *
 * @param name name of the target for messages
 * @param host name or address of the target's host
 * @param serverName name that the target's certificate must have; null if it must have {@code host}
 * @param paths paths to subscribe to
 * @param intervalNs time between two samples
 */
public record TelemetryTarget(
    String name,
    String host,
    int port,
    @Nullable String serverName,
    List<ReportPath> paths,
    long intervalNs) {
  public TelemetryTarget {
    paths = List.copyOf(paths);
  }
}
