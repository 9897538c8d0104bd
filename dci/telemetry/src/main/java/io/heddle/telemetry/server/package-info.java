/**
 * The gateway's end of telemetry. gRPC has threads of its own; one more, {@code heddle-telemetry},
 * takes samples and sends them.
 */
@NullMarked
package io.heddle.telemetry.server;

import org.jspecify.annotations.NullMarked;
