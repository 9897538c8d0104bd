/**
 * Port in a fabric with datagram queue pairs of a libibverbs device, on Ethernet or InfiniBand.
 * {@link io.heddle.bridge.verbs.VerbsFabric} opens it. The device computes and checks CRCs.
 *
 * <p>Threads: the data thread polls, sends, and restarts failed queue pairs; the control path does
 * the rest. Memory: buffers and queue pairs live as long as the port.
 */
@NullMarked
package io.heddle.bridge.verbs;

import org.jspecify.annotations.NullMarked;
