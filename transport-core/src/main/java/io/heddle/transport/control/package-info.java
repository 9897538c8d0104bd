/**
 * Control channel: one TCP connection per communicator, over which the two ends exchange planes and
 * queue pairs, and detect each other's end. Everything here runs on the control thread ({@link
 * io.heddle.transport.control.ControlLoop}) unless it says otherwise. Input from a peer is
 * validated as a value, never by an exception.
 */
@NullMarked
package io.heddle.transport.control;

import org.jspecify.annotations.NullMarked;
