/** Log of the controller's decisions and their inputs: one JSON line per round, append-only. */
@NullMarked
package io.heddle.controller.audit;

import org.jspecify.annotations.NullMarked;
