/**
 * The {@code heddle} command but for what has a package of its own ({@code doctor}, {@code stat},
 * {@code errors}, {@code exporter}, and perftest's {@code write_bw} and its sisters): {@code demo},
 * {@code soak} and {@code lab} make hosts and run jobs on them, the commands of {@code perf}
 * measure, {@code planes}, {@code drain} and {@code bgp} are the operator's.
 *
 * <p>Each command is one class with picocli's annotations, which runs on the main thread; what it
 * prints, {@code --json} prints as one document. Options that several commands share are mixins
 * ({@code HostsOption}, {@code FabricOption}).
 */
@NullMarked
package io.heddle.tools;

import org.jspecify.annotations.NullMarked;
