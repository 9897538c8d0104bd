/** The simulated fabric: its links, their rates, and their impairments. */
@NullMarked
package io.heddle.sim.links;

import org.jspecify.annotations.NullMarked;
