package io.heddle.gateway.config;

import io.heddle.telemetry.tls.TlsFiles;
import java.net.InetAddress;

/** Where telemetry is served. */
public record TelemetryConfig(InetAddress address, int port, TlsFiles files) {}
