/**
 * JMH benchmarks of the steps of every message: the reorder window, the choice of planes, and a
 * message from end to end. Other benchmarks measure tables and hand-offs between threads. Each step
 * is compared with the usual alternative. {@code ./heddle perf jmh} runs them.
 */
@NullMarked
package io.heddle.perf;

import org.jspecify.annotations.NullMarked;
