/**
 * One-directional connections over several planes: what NCCL calls a device, a listener, a sending
 * and a receiving communicator, without knowing NCCL.
 *
 * <p>To read it: {@link io.heddle.transport.Transport} is the process' devices and its control
 * thread; a {@code Handshake} makes a {@code Connection}, with a {@code SubFlow} on each plane; a
 * {@link io.heddle.transport.SendComm} cuts messages into chunks and a {@link
 * io.heddle.transport.RecvComm} puts them together; {@code Failover} takes a connection off a
 * plane, {@code PlaneReturn} back onto it. {@code TransportOptions} and {@code InfinibandOptions}
 * are all settings.
 *
 * <p>Threads: a communicator's data path belongs to whoever has its {@code Baton}, nearly always
 * the caller's thread; {@code heddle-control} runs handshakes, timers and failovers, {@code
 * heddle-routes} follows weights, {@code heddle-addresses} follows the kernel's addresses.
 * plugin-shim calls in.
 */
@NullMarked
package io.heddle.transport;

import org.jspecify.annotations.NullMarked;
