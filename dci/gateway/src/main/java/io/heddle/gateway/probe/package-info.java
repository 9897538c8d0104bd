/**
 * Measurement of round trip and loss of each segment list, by STAMP (RFC 8762, unauthenticated). A
 * probe has the list's mark, so it takes the same path as the list's packets; the far gateway
 * reflects it. One thread, {@code heddle-gateway-probes}, sends, reflects and reads.
 */
@NullMarked
package io.heddle.gateway.probe;

import org.jspecify.annotations.NullMarked;
