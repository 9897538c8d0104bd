/**
 * What a rule does: how an announcement says "to segment list 2 at gateway 10.0.0.1", and what of
 * an announcement is refused. The seam is {@link io.heddle.flowspec.steering.SteeringEncoding},
 * since the drafts that it follows may change. Values and pure functions; no thread.
 */
@NullMarked
package io.heddle.flowspec.steering;

import org.jspecify.annotations.NullMarked;
