/** Virtual time: events in chronological order, stored in primitive arrays. One thread. */
@NullMarked
package io.heddle.sim.calendar;

import org.jspecify.annotations.NullMarked;
