/**
 * The controller's view of the network at one moment, and its decisions. Values without I/O. Rates
 * are bits per second; times are nanoseconds of one clock.
 */
@NullMarked
package io.heddle.controller.model;

import org.jspecify.annotations.NullMarked;
