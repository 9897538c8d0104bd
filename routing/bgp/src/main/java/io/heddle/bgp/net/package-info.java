/**
 * Sockets and time of the BGP speaker: one thread blocked in epoll, TCP with the options that BGP
 * wants and Java's socket API doesn't have, router advertisements.
 *
 * <p>{@link io.heddle.bgp.net.EventLoop} owns the thread {@code heddle-bgp}; everything else here
 * belongs to it and is used on it alone, but for {@link io.heddle.bgp.net.EventLoop#execute}.
 */
@NullMarked
package io.heddle.bgp.net;

import org.jspecify.annotations.NullMarked;
