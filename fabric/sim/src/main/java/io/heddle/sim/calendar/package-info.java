/** Virtual time: events in the order in which they happen, in primitive arrays. One thread. */
@NullMarked
package io.heddle.sim.calendar;

import org.jspecify.annotations.NullMarked;
