/**
 * Connections between two ends: a {@code Handshake} makes a {@code Connection} of the common
 * planes, and a {@code ControlSession} continues on its channel.
 *
 * <p>Runs on the control thread; NCCL's service thread calls a {@code ListenComm}.
 */
@NullMarked
package io.heddle.transport.connection;

import org.jspecify.annotations.NullMarked;
