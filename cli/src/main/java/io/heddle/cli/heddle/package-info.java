/**
 * The {@code heddle} program: the root of the command line, the settings that all commands share,
 * man pages, messages for usage errors, and a standard output that reports failed writes. It is the
 * one module that knows all commands; no module uses it. Runs on the main thread.
 */
@NullMarked
package io.heddle.cli.heddle;

import org.jspecify.annotations.NullMarked;
