/**
 * The data path of a connection: a {@link io.heddle.transport.data.SendComm} cuts messages into
 * chunks, a {@link io.heddle.transport.data.RecvComm} puts them together, and a {@code SubFlow}
 * carries them over one plane.
 *
 * <p>A communicator is handed a {@link io.heddle.transport.data.ConnectionParts} and knows no
 * connection. Whoever has its {@code Baton} may touch it: the caller's thread, or the control
 * thread during a failover. Nothing here allocates once a connection has warmed up.
 */
@NullMarked
package io.heddle.transport.data;

import org.jspecify.annotations.NullMarked;
