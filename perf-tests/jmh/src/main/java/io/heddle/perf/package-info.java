/**
 * JMH benchmarks of the steps of every message: the reorder window, the choice of planes, a message
 * from end to end; and of tables and hand-offs between threads. Each runs beside its usual
 * alternative. {@code ./heddle perf jmh} runs them.
 */
@NullMarked
package io.heddle.perf;

import org.jspecify.annotations.NullMarked;
