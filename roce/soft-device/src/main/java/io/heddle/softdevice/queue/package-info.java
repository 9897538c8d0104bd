/**
 * The open soft device: its queue pairs and other verbs objects, and the rounds of progress that
 * serve them. {@link io.heddle.softdevice} has the threads and the reading order.
 */
@NullMarked
package io.heddle.softdevice.queue;

import org.jspecify.annotations.NullMarked;
