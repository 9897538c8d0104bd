/**
 * Codec of Flowspec routes (RFC 8955 §4, RFC 8956) for a BGP session. It has no state. Malformed
 * input from a peer is returned as a value, never thrown as an exception.
 */
@NullMarked
package io.heddle.bgp.flowspec.wire;

import org.jspecify.annotations.NullMarked;
