/**
 * Pragmatic General Multicast (RFC 3208) as a bridge sees it go by: what its packets say, and for
 * each session which numbers came, came again, or never came. It only looks; nothing here changes
 * or holds a packet. The data thread's, without allocation.
 */
@NullMarked
package io.heddle.bridge.pgm;

import org.jspecify.annotations.NullMarked;
