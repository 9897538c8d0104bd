/**
 * The shape of every measurement: a {@link io.heddle.tools.bench.contest.Contest} drives
 * contestants and prints {@link io.heddle.tools.bench.contest.Results}, as JSON or as a table. Runs
 * on the thread of its command.
 */
@NullMarked
package io.heddle.tools.bench.contest;

import org.jspecify.annotations.NullMarked;
