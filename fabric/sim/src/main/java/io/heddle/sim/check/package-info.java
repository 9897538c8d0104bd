/** The simulation beside figures that others have found: how far it is off. */
@NullMarked
package io.heddle.sim.check;

import org.jspecify.annotations.NullMarked;
