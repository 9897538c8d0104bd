/**
 * {@code heddle bench}: runs every measurement of the project by the commands that users have for
 * them, reads the figures in their JSON, and compares them with targets. Results are recorded and
 * drawn. Measures nothing itself. Runs on one thread.
 *
 * <h2>A measurement is a contest</h2>
 *
 * {@link io.heddle.tools.bench.contest.Contest}: contestants × steps × rounds → values. A step is a
 * setting that all contestants measure, such as a size or a state of the links. In each round every
 * contestant measures each step in turn, so that other load on the machine meets all of them. A
 * contestant is usually a pair of processes that wait until it is their turn.
 *
 * <p>Values have one shape: a series for each step, contestant and quantity, with a value per
 * round. Comparisons with a rival are series too, since a ratio is of one round. Each series is a
 * {@link io.heddle.tools.bench.contest.Figure}: median, minimum and maximum. Figures that summarise
 * several series are added to them. A figure may have a {@link
 * io.heddle.tools.bench.contest.Bound}, by which the command itself judges it. {@link
 * io.heddle.tools.bench.contest.Results} is the JSON document of every contest, and {@code
 * ResultTable} prints it as text.
 *
 * <h2>To add a measurement</h2>
 *
 * <ol>
 *   <li>A command in {@code bench.perf}: options, a contest with its settings, contestants, and the
 *       comparisons. Its class is named in {@code PerfMeasurements}.
 *   <li>A row in {@code measurements.txt}: name, how its JSON is read, time limit, needed software,
 *       and the command lines of a full and a quick run. A command outside {@code bench.perf} with
 *       a JSON document of its own needs a {@link io.heddle.tools.bench.FigureReader}.
 *   <li>Rows in {@code targets.txt}: measurement, figure, bound, and the reason why this design may
 *       miss it. Where the command has bounds of its own, the row says {@code own} in place of a
 *       bound, so that each bound is in one place.
 * </ol>
 *
 * <p>A measurement that lacks software or time says so and is counted as not run. It never reports
 * a figure of another configuration.
 */
@NullMarked
package io.heddle.tools.bench;

import org.jspecify.annotations.NullMarked;
