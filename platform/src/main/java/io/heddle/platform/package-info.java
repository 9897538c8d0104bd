/**
 * Services of the operating system and the process: native memory by address, Linux system calls
 * through the Foreign Function and Memory API, clock, options, log, errors, threads that survive
 * failures, leak ledger.
 *
 * <p>Runs on the calling thread; owns no thread. Every other module may use it; it uses none of
 * them.
 */
@NullMarked
package io.heddle.platform;

import org.jspecify.annotations.NullMarked;
