/**
 * Telemetry of gateways and routers to a controller: gNMI over gRPC, with mutual TLS 1.3. Package
 * {@code report} has the values, {@code gnmi} their form on the wire, {@code server} and {@code
 * client} the two ends, {@code tls} the certificates. No other module uses gRPC.
 */
@NullMarked
package io.heddle.telemetry;

import org.jspecify.annotations.NullMarked;
