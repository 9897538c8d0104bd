/**
 * The {@code heddle} program: the root of the command line, the settings that all commands share,
 * man pages, messages for usage errors, and a standard output that reports failed writes. This
 * package knows all commands for hosts, and none of them uses it. Runs on the main thread.
 */
@NullMarked
package io.heddle.cli.heddle;

import org.jspecify.annotations.NullMarked;
