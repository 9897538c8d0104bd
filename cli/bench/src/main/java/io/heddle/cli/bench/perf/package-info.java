/**
 * {@code heddle perf}: each command measures one thing of the plugin, often beside a contestant
 * that does without it, and prints a table or one document. {@code heddle bench} calls them as
 * processes. Each runs on the command's thread.
 */
@NullMarked
package io.heddle.cli.bench.perf;

import org.jspecify.annotations.NullMarked;
