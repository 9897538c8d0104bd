/**
 * Jobs that commands run: ranks as processes on the hosts of a lab, their folder, and the
 * all-reduce driver's plan and events. Options for hosts and sizes are picocli mixins ({@link
 * io.heddle.tools.job.HostsOption}). Runs on the caller's thread; each output stream of a process
 * has a reader thread.
 */
@NullMarked
package io.heddle.tools.job;

import org.jspecify.annotations.NullMarked;
