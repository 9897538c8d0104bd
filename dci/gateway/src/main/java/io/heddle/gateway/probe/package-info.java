/**
 * Round trip and loss of each segment list, by STAMP (RFC 8762, unauthenticated): a probe that the
 * list's mark sends the way of its packets, and the far gateway reflects. One thread, {@code
 * heddle-gateway-probes}, sends, reflects and reads.
 */
@NullMarked
package io.heddle.gateway.probe;

import org.jspecify.annotations.NullMarked;
