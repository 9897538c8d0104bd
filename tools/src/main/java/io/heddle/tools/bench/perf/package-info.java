/**
 * Commands of {@code heddle perf}: each measures one aspect of the plugin, often beside a rival,
 * and prints a table or a JSON document. {@code heddle bench} runs them as processes. Each runs on
 * the command's thread.
 */
@NullMarked
package io.heddle.tools.bench.perf;

import org.jspecify.annotations.NullMarked;
