/**
 * Pragmatic General Multicast (RFC 3208) as a bridge observes it: its packets, and for each session
 * the numbers that arrived, were duplicated, or are missing. The package neither changes nor holds
 * packets. Used by the data thread only, without allocation.
 */
@NullMarked
package io.heddle.bridge.pgm;

import org.jspecify.annotations.NullMarked;
