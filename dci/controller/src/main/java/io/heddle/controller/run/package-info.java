/**
 * Closed loop of the controller: it receives telemetry, runs the solver, and announces rules by
 * BGP. Only the thread {@code heddle-controller} decides. gRPC's threads put telemetry into {@link
 * io.heddle.controller.run.TelemetryStore}; the BGP speaker's thread sends rules.
 */
@NullMarked
package io.heddle.controller.run;

import org.jspecify.annotations.NullMarked;
