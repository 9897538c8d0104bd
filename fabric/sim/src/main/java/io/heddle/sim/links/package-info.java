/** The simulated fabric: its links with their rates, queues and impairments. */
@NullMarked
package io.heddle.sim.links;

import org.jspecify.annotations.NullMarked;
