/**
 * The control channel: one TCP connection per communicator, over which the two ends exchange planes
 * and queue pairs, and notice each other's end. Everything here runs on the control thread ({@link
 * io.heddle.transport.control.ControlLoop}) unless it says otherwise. What a peer sends is a value
 * to judge, never an exception.
 */
@NullMarked
package io.heddle.transport.control;

import org.jspecify.annotations.NullMarked;
