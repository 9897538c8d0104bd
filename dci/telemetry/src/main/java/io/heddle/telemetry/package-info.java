/**
 * What gateways and routers report to a controller: gNMI over gRPC, with mutual TLS 1.3. {@code
 * report} has the values, {@code gnmi} their form on the wire, {@code server} and {@code client}
 * the two ends. Nothing else here knows gRPC.
 */
@NullMarked
package io.heddle.telemetry;

import org.jspecify.annotations.NullMarked;
