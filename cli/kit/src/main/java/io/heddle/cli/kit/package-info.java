/**
 * What every command is made of: exit codes, JSON, option ranges, sizes, a line of progress, a
 * report's file, cleaning up, where the built parts are, how a command calls its own program. Knows
 * no command. Runs on its caller's thread.
 */
@NullMarked
package io.heddle.cli.kit;

import org.jspecify.annotations.NullMarked;
