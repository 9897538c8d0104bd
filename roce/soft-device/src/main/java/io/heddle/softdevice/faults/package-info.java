/**
 * Faults that {@code HEDDLE_SOFT_FAULTS} injects into packets: a {@link
 * io.heddle.softdevice.io.PacketGate} that loses, delays, changes and repeats them.
 */
@NullMarked
package io.heddle.softdevice.faults;

import org.jspecify.annotations.NullMarked;
