/**
 * Controllers' rules on their way into the data plane: BGP sessions, and which queue pair a rule
 * steers. The speaker's thread; what it finds is handed to the gateway in batches.
 */
@NullMarked
package io.heddle.gateway.peer;

import org.jspecify.annotations.NullMarked;
