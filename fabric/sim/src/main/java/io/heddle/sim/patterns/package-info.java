/** Traffic patterns of collectives, as connections with messages. */
@NullMarked
package io.heddle.sim.patterns;

import org.jspecify.annotations.NullMarked;
