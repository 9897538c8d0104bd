/** Virtual time: events in chronological order, stored in primitive arrays. Used by one thread. */
@NullMarked
package io.heddle.sim.calendar;

import org.jspecify.annotations.NullMarked;
