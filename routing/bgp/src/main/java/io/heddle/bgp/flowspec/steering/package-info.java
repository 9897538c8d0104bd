/**
 * Actions of rules: the encoding of "to segment list 2 at gateway 10.0.0.1" in an announcement, and
 * the refusal of other actions. {@link io.heddle.bgp.flowspec.steering.SteeringEncoding} is an
 * interface with two implementations, since the IETF drafts that define the encodings may change.
 * The package has only values and pure functions, and no thread.
 */
@NullMarked
package io.heddle.bgp.flowspec.steering;

import org.jspecify.annotations.NullMarked;
