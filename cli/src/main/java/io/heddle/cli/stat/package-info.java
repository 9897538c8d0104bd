/**
 * Counters of the plugin's processes on this host: read from their statistics files, and shown as a
 * table, a live view, JSON, or metrics for Prometheus. The processes aren't contacted. Runs on the
 * command's thread; the exporter runs on the threads of its web server.
 */
@NullMarked
package io.heddle.cli.stat;

import org.jspecify.annotations.NullMarked;
