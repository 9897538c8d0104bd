/**
 * Sockets of the soft device: datagrams received and sent in segment trains, links to peers, and
 * the device's addresses. Knows no queue pair. The data path's methods are called under the
 * progress lock.
 */
@NullMarked
package io.heddle.softdevice.io;

import org.jspecify.annotations.NullMarked;
