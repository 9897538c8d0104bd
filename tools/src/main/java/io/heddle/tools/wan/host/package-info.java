/**
 * Foundations of the demos between data centres: short commands, certificates, and daemons as
 * processes in network namespaces. The closing thread ends the processes; the package has no
 * thread.
 */
@NullMarked
package io.heddle.tools.wan.host;

import org.jspecify.annotations.NullMarked;
