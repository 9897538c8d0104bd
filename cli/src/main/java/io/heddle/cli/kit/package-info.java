/**
 * Common parts of the commands: exit codes, JSON, option ranges, sizes, progress lines, report
 * files, cleanup, locations of built parts, subprocesses of the same program. The package doesn't
 * depend on any command. Its code runs on the caller's thread.
 */
@NullMarked
package io.heddle.cli.kit;

import org.jspecify.annotations.NullMarked;
