/**
 * Services of the operating system and the process: native memory by address, Linux system calls
 * through the Foreign Function and Memory API, clock, options, log, errors, threads that survive
 * failures, network namespaces, and the leak ledger.
 *
 * <p>All code runs on the calling thread, except the rounds of {@code ResilientThread}. All other
 * modules may use this module; it uses none of them.
 */
@NullMarked
package io.heddle.platform;

import org.jspecify.annotations.NullMarked;
