/**
 * Commands of {@code heddle perf}: each command measures one aspect of the plugin, often compared
 * with a rival, and prints a table or a JSON document. {@code heddle bench} runs them as processes.
 * A command runs on its own thread.
 */
@NullMarked
package io.heddle.tools.bench.perf;

import org.jspecify.annotations.NullMarked;
