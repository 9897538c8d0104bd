package io.heddle.telemetry.client;

import io.heddle.telemetry.gnmi.ReportPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Target of a subscription.
 *
 * @param name for messages
 * @param host name or address; without a {@code serverName} its certificate has to name it
 * @param serverName name in its certificate if it differs from the host; null if not
 * @param paths to subscribe to
 * @param intervalNs between two samples
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
