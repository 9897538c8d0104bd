/**
 * The {@code heddle} program: the root of the command line with what all commands have alike, man
 * pages, refusals in words, a standard output whose losses are told. The one module that knows all
 * commands; nothing uses it. Runs on the main thread.
 */
@NullMarked
package io.heddle.cli.heddle;

import org.jspecify.annotations.NullMarked;
