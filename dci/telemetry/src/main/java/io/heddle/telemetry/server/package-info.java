/**
 * Gateway's end of telemetry. Besides gRPC's threads there is one thread, {@code heddle-telemetry},
 * which takes samples and sends them.
 */
@NullMarked
package io.heddle.telemetry.server;

import org.jspecify.annotations.NullMarked;
