/**
 * Codec of Flowspec routes (RFC 8955 §4, RFC 8956) for a BGP session. Stateless; a peer's malformed
 * input is a value, never an exception.
 */
@NullMarked
package io.heddle.flowspec.wire;

import org.jspecify.annotations.NullMarked;
