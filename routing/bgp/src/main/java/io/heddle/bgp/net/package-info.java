/**
 * Sockets and timers of the BGP speaker: one thread in epoll, TCP sockets with the options that BGP
 * needs and Java's socket API lacks, and router advertisements.
 *
 * <p>{@link io.heddle.bgp.net.EventLoop} owns the thread {@code heddle-bgp}. Other threads may call
 * only the methods that say so, such as {@link io.heddle.bgp.net.EventLoop#execute}.
 */
@NullMarked
package io.heddle.bgp.net;

import org.jspecify.annotations.NullMarked;
