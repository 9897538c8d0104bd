/**
 * Whole processes in network namespaces: the command, the plugin and the ranks' program together.
 *
 * <p>Every test has its own namespaces and leaves none behind. Tests that the machine forbids, or
 * whose programs aren't built, are skipped with the reason printed.
 */
@NullMarked
package io.heddle.systemtests;

import org.jspecify.annotations.NullMarked;
