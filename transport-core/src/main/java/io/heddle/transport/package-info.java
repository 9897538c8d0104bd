/**
 * One-directional connections over several planes: what NCCL calls a device, a listener, a sending
 * and a receiving communicator, without knowing NCCL.
 *
 * <p>{@link io.heddle.transport.Transport} is the process' devices and its control thread. Each
 * sub-package is a room, and uses only those to its left: {@code control}, {@code options}, {@code
 * device}, {@code data}, {@code failover}, {@code connection}.
 *
 * <p>Threads: a communicator's data path belongs to whoever has its {@code Baton}, nearly always
 * the caller's thread; {@code heddle-control} runs handshakes, timers and failovers, {@code
 * heddle-routes} follows weights, {@code heddle-addresses} follows the kernel's addresses.
 * plugin-shim calls in.
 */
@NullMarked
package io.heddle.transport;

import org.jspecify.annotations.NullMarked;
