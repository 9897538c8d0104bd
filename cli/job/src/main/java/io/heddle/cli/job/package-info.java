/**
 * Jobs that commands run: the ranks as processes on the hosts of a lab, their folder and notice,
 * the all-reduce driver's plan and what it prints. Options that say which hosts and sizes are
 * mixins here ({@link io.heddle.cli.job.HostsOption}). Runs on its caller's thread; each process
 * that is read has a thread.
 */
@NullMarked
package io.heddle.cli.job;

import org.jspecify.annotations.NullMarked;
