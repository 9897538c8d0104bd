/**
 * Foundations of the demos between data centres: certificates, and daemons as processes in network
 * namespaces. Closing {@code NodeProcesses} ends the processes. The package starts no threads.
 */
@NullMarked
package io.heddle.tools.wan.host;

import org.jspecify.annotations.NullMarked;
