/** The simulated fabric: which links there are, what they carry, and when they are bad. */
@NullMarked
package io.heddle.sim.links;

import org.jspecify.annotations.NullMarked;
