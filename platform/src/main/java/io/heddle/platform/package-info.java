/**
 * What Heddle needs from the operating system and the process it lives in: native memory by
 * address, Linux system calls through the Foreign Function and Memory API, the clock, options, the
 * log, errors, what becomes of threads that meet an unexpected one, and the leak ledger.
 *
 * <p>Runs on whichever thread calls it; owns no thread. Every other module may use it, it uses none
 * of them.
 */
@NullMarked
package io.heddle.platform;

import org.jspecify.annotations.NullMarked;
