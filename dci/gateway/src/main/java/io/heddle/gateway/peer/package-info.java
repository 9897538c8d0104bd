/**
 * Controllers' rules for the data plane: BGP sessions, and the queue pairs that a rule steers. Runs
 * on the BGP speaker's thread, and passes changes of steers to the gateway in batches.
 */
@NullMarked
package io.heddle.gateway.peer;

import org.jspecify.annotations.NullMarked;
