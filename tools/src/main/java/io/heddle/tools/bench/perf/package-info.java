/**
 * Commands of {@code heddle perf}: each is a {@link io.heddle.tools.bench.contest.Contest} that
 * measures one aspect of the plugin, often beside a rival. {@code heddle bench} runs them as
 * processes. A command runs on its own thread.
 */
@NullMarked
package io.heddle.tools.bench.perf;

import org.jspecify.annotations.NullMarked;
