/**
 * Common parts of the daemons (route daemon, bridge, gateway, controller, exporter): configuration
 * syntax, control socket, notifications to systemd, start and end. Knows no product. Runs on its
 * caller's thread; a control socket has threads of its own.
 *
 * <p>A product declares its configuration's keys in a table, {@link io.heddle.daemon.ConfigKeys}.
 * {@link io.heddle.daemon.ConfigText} parses and checks a file by it. The table also marks the keys
 * that need a restart: when a daemon reads its file again, {@code changeTo} compares the two texts,
 * refuses a change of those keys before the product applies anything, and names the other changes
 * for the log. Applying them is left to the product, which compares its own records.
 */
@NullMarked
package io.heddle.daemon;

import org.jspecify.annotations.NullMarked;
