/**
 * The closed loop: telemetry comes in, the solver decides, rules go out by BGP. {@code
 * heddle-controller} is the one thread that decides; telemetry comes on gRPC's threads into {@link
 * io.heddle.controller.run.TelemetryStore}, and rules leave on the speaker's.
 */
@NullMarked
package io.heddle.controller.run;

import org.jspecify.annotations.NullMarked;
