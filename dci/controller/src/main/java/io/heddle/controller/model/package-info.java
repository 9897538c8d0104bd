/**
 * Model of the network at one moment, and of the controller's decisions: immutable values. Rates
 * are in bits per second. All times are nanoseconds of one clock.
 */
@NullMarked
package io.heddle.controller.model;

import org.jspecify.annotations.NullMarked;
