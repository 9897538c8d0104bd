package io.heddle.telemetry.client;

import io.heddle.telemetry.gnmi.ReportPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whom to subscribe to.
 *
 * @param name for messages
 * @param host name or address; without a {@code serverName} its certificate has to name it
 * @param serverName what its certificate names instead; null for none
 * @param paths what is wanted of it
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
