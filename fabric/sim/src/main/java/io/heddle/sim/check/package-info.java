/** Comparison of the simulation with published and measured figures. */
@NullMarked
package io.heddle.sim.check;

import org.jspecify.annotations.NullMarked;
