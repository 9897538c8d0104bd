/**
 * One-directional connections over several planes. Provides NCCL's device, listener, sending and
 * receiving communicator without depending on NCCL.
 *
 * <p>{@link io.heddle.transport.Transport} holds the process's devices and its control thread. Each
 * sub-package uses only those to its left: {@code control}, {@code options}, {@code device}, {@code
 * data}, {@code failover}, {@code connection}, {@code onesided}.
 *
 * <p>Threads: a communicator's data path belongs to the thread that holds its {@code Baton}, nearly
 * always the caller's. {@code heddle-control} runs handshakes, timers and failovers, {@code
 * heddle-routes} follows weights, {@code heddle-addresses} follows the kernel's addresses.
 * plugin-shim is the caller.
 */
@NullMarked
package io.heddle.transport;

import org.jspecify.annotations.NullMarked;
