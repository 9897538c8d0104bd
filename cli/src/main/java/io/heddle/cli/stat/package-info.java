/**
 * Counters of the plugin's processes on this host: read from their statistics files, shown as a
 * table, a live view, JSON, or for Prometheus. Contacts no process. Runs on the command's thread;
 * the exporter on those of its web server.
 */
@NullMarked
package io.heddle.cli.stat;

import org.jspecify.annotations.NullMarked;
