/**
 * A router's end of telemetry: its interfaces only. The gateway reports the same counters. The
 * telemetry server's thread calls it.
 */
@NullMarked
package io.heddle.gateway.observe;

import org.jspecify.annotations.NullMarked;
