/**
 * JMH benchmarks of what every message passes: the reorder window, the choice of planes, a message
 * from end to end; and of tables and hand-offs between threads. Each stands beside what one would
 * write instead, in the same run. {@code ./heddle perf jmh} runs them.
 */
@NullMarked
package io.heddle.perf;

import org.jspecify.annotations.NullMarked;
