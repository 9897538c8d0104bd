/**
 * Several hosts with several planes on one machine: network namespaces joined by veth pairs, or
 * loopback addresses where namespaces are forbidden.
 *
 * <p>Used by the {@code heddle} command's demo and benchmarks and by the system tests. Runs on its
 * caller's thread; what it made in the kernel is gone after {@code close}.
 */
@NullMarked
package io.heddle.tools.lab;

import org.jspecify.annotations.NullMarked;
