/**
 * Sockets and time of the BGP speaker: one thread in epoll, TCP with the options that BGP needs and
 * Java's socket API lacks, router advertisements.
 *
 * <p>{@link io.heddle.bgp.net.EventLoop} owns the thread {@code heddle-bgp}. Everything else here
 * is for that thread, except {@link io.heddle.bgp.net.EventLoop#execute}.
 */
@NullMarked
package io.heddle.bgp.net;

import org.jspecify.annotations.NullMarked;
