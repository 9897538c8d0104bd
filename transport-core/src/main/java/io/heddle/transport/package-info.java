/** Connections, control channel, spray policies, requests, counters. */
@NullMarked
package io.heddle.transport;

import org.jspecify.annotations.NullMarked;
