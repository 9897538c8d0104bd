/**
 * What a controller knows at one moment, and what it decides: values without I/O. Rates are bits a
 * second, times nanoseconds of one clock.
 */
@NullMarked
package io.heddle.controller.model;

import org.jspecify.annotations.NullMarked;
