/**
 * A gateway's rule table: the rules of all peers, the rule that applies to a flow, and the
 * admission of peers' rules. Used by one thread, the BGP speaker's.
 */
@NullMarked
package io.heddle.flowspec.table;

import org.jspecify.annotations.NullMarked;
