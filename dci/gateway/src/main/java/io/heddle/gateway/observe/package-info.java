/**
 * A router's end of telemetry: its interfaces, and nothing else. The gateway counts them, too. The
 * server's thread asks.
 */
@NullMarked
package io.heddle.gateway.observe;

import org.jspecify.annotations.NullMarked;
