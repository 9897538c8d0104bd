/**
 * Telemetry of gateways and routers to a controller: gNMI over gRPC, with mutual TLS 1.3. {@code
 * report} has the values, {@code gnmi} their form on the wire, {@code server} and {@code client}
 * the two ends. No other module uses gRPC.
 */
@NullMarked
package io.heddle.telemetry;

import org.jspecify.annotations.NullMarked;
