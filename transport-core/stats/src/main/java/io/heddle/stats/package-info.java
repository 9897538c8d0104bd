/**
 * Counters and distinct errors of a process, in a mapped file that other processes can read without
 * the process's help. Beside that file are the operator's orders to drain planes.
 *
 * <p>Each field has one writer, nearly always the thread that drives the communicator; where it is
 * the control thread, the method says so. {@link io.heddle.stats.StatsReader} reads the file of any
 * process.
 */
@NullMarked
package io.heddle.stats;

import org.jspecify.annotations.NullMarked;
