/**
 * Bidirectional Forwarding Detection over one hop (RFC 5880, RFC 5881). It detects within a
 * fraction of a second that packets from a peer no longer arrive; BGP's hold time takes many
 * seconds.
 *
 * <p>{@link io.heddle.bgp.bfd.BfdSpeaker} has the sockets. {@code BfdSession} has the rules,
 * without sockets or threads. Everything runs on the loop's thread.
 */
@NullMarked
package io.heddle.bgp.bfd;

import org.jspecify.annotations.NullMarked;
