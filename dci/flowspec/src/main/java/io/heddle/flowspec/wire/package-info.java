/**
 * Flowspec routes to bytes and back (RFC 8955 §4, RFC 8956): the codec that a BGP session is given
 * for the family. Stateless; what a peer sent wrongly is a value, never an exception.
 */
@NullMarked
package io.heddle.flowspec.wire;

import org.jspecify.annotations.NullMarked;
