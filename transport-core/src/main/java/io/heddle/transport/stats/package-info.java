/**
 * The counters of a process, in a mapped file that other processes read without asking it. Each
 * field has one writer: the thread that drives the communicator.
 */
@NullMarked
package io.heddle.transport.stats;

import org.jspecify.annotations.NullMarked;
