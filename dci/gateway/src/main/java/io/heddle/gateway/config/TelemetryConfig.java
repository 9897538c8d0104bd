package io.heddle.gateway.config;

import io.heddle.telemetry.tls.TlsFiles;
import java.net.InetAddress;

/** Address, port and certificate files of the telemetry server. */
public record TelemetryConfig(InetAddress address, int port, TlsFiles files) {}
