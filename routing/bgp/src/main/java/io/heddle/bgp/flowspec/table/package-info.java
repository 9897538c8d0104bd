/**
 * Rule table of a gateway: the rules of all peers, the choice of the rule that applies to a flow,
 * and the admission of rules. Used only by the BGP speaker's thread.
 */
@NullMarked
package io.heddle.bgp.flowspec.table;

import org.jspecify.annotations.NullMarked;
