/**
 * Whole processes in network namespaces: the command, the plugin and the ranks' program together.
 *
 * <p>Every test has namespaces of its own and leaves none behind; what a machine forbids, or what
 * isn't built, is skipped with its reason printed.
 */
@NullMarked
package io.heddle.systemtests;

import org.jspecify.annotations.NullMarked;
