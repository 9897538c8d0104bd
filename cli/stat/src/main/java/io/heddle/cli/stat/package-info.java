/**
 * What the plugin's processes on this host count: read from their statistics files, shown as a
 * table, a live view, JSON, or for Prometheus. Asks no process anything. Runs on the command's
 * thread; the exporter on those of its web server.
 */
@NullMarked
package io.heddle.cli.stat;

import org.jspecify.annotations.NullMarked;
