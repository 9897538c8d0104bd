/**
 * Common parts of the daemons (route daemon, bridge, gateway, controller, exporter): configuration
 * syntax, control socket, notifications to systemd, start and end. Knows no product. Runs on its
 * caller's thread; a control socket has threads of its own.
 */
@NullMarked
package io.heddle.daemon;

import org.jspecify.annotations.NullMarked;
