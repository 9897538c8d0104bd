/**
 * Several hosts with several planes on one machine: network namespaces joined by veth pairs, or
 * loopback addresses where namespaces are forbidden. And fabrics of real routers between such hosts
 * ({@link io.heddle.cli.lab.Fabric}): their state lies in a folder under {@code /run}, so that any
 * process finds, changes and removes them.
 *
 * <p>Used by the {@code heddle} command's demo and benchmarks and by the system tests. Runs on its
 * caller's thread; what a lab made in the kernel is gone after {@code close}, what a fabric made
 * after {@code down}.
 */
@NullMarked
package io.heddle.cli.lab;

import org.jspecify.annotations.NullMarked;
