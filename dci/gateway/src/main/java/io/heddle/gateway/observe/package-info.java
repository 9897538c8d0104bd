/**
 * Telemetry of a router that isn't a gateway: the counters of its interfaces. A gateway reports the
 * same counters. Runs on the telemetry server's threads.
 */
@NullMarked
package io.heddle.gateway.observe;

import org.jspecify.annotations.NullMarked;
