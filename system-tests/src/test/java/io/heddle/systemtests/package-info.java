/**
 * Tests of whole processes in network namespaces: the command, the plugin and the ranks' program
 * together.
 *
 * <p>Every test has its own namespaces and leaves none behind. A test is skipped, with the reason
 * printed, if the machine lacks a permission or a program isn't built.
 */
@NullMarked
package io.heddle.systemtests;

import org.jspecify.annotations.NullMarked;
