/**
 * Bidirectional forwarding detection over one hop (RFC 5880, RFC 5881): tells within a fraction of
 * a second that packets to a peer don't arrive any more, where BGP's hold time takes many seconds.
 *
 * <p>{@link io.heddle.bgp.bfd.BfdSpeaker} has the sockets, {@code BfdSession} the rules without
 * sockets or threads. Everything runs on the loop's thread.
 */
@NullMarked
package io.heddle.bgp.bfd;

import org.jspecify.annotations.NullMarked;
