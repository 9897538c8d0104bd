/**
 * How two ends become a connection and stay one: a {@code Handshake} makes a {@code Connection} of
 * the planes that both ends have, and a {@code ControlSession} goes on with its channel.
 *
 * <p>Control thread, but for what NCCL's service thread asks of a {@code ListenComm}.
 */
@NullMarked
package io.heddle.transport.connection;

import org.jspecify.annotations.NullMarked;
