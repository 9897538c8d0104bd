/**
 * The closed loop: telemetry comes in, the solver decides, rules go out by BGP. Only the thread
 * {@code heddle-controller} decides. gRPC's threads put telemetry into {@link
 * io.heddle.controller.run.TelemetryStore}; the speaker's thread sends rules.
 */
@NullMarked
package io.heddle.controller.run;

import org.jspecify.annotations.NullMarked;
