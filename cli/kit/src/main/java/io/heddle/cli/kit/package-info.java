/**
 * Common parts of the commands: exit codes, JSON, option ranges, sizes, progress lines, report
 * files, cleanup, locations of built parts, control sockets, calls of the own program. Knows no
 * command. Runs on its caller's thread.
 */
@NullMarked
package io.heddle.cli.kit;

import org.jspecify.annotations.NullMarked;
