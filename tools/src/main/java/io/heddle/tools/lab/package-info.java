/**
 * Labs: several hosts with several planes on one machine, as network namespaces connected by veth
 * pairs, or as loopback addresses where namespaces are forbidden. Fabrics of real routers between
 * such hosts ({@link io.heddle.tools.lab.Fabric}) keep their state in a folder under {@code /run},
 * so that any process can find, change and remove them.
 *
 * <p>The demo and benchmarks of the {@code heddle} command and the system tests use this package.
 * It runs on the caller's thread. {@code close} of a lab, and {@code down} of a fabric, remove
 * everything created in the kernel.
 */
@NullMarked
package io.heddle.tools.lab;

import org.jspecify.annotations.NullMarked;
