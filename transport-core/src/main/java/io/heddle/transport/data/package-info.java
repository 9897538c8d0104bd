/**
 * Data path of a connection: a {@link io.heddle.transport.data.SendComm} cuts messages into chunks,
 * a {@code SubFlow} carries them over one plane, and a {@link io.heddle.transport.data.RecvComm}
 * reassembles them. {@link io.heddle.transport.data.SprayingCommunicator} has what sends share with
 * one-sided operations.
 *
 * <p>A communicator gets a {@link io.heddle.transport.data.ConnectionParts} and doesn't know its
 * connection. The holder of its {@code Baton} may touch it: the caller's thread, or the control
 * thread during a failover. Nothing here allocates once a connection has warmed up.
 */
@NullMarked
package io.heddle.transport.data;

import org.jspecify.annotations.NullMarked;
