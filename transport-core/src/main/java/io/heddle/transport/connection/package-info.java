/**
 * Connections between two ends: a {@code Handshake} makes a {@code Connection} of the common
 * planes, and a {@code ControlSession} continues on its channel.
 *
 * <p>Control thread, but for NCCL's service thread at a {@code ListenComm}.
 */
@NullMarked
package io.heddle.transport.connection;

import org.jspecify.annotations.NullMarked;
