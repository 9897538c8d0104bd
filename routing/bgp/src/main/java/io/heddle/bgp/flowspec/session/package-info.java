/**
 * Rules on BGP sessions: {@code RuleReceiver} takes a gateway's rules from its peers, {@code
 * RuleAnnouncer} announces a controller's rules. Both are listeners of {@code
 * io.heddle.bgp.session} and run on the BGP speaker's thread.
 */
@NullMarked
package io.heddle.bgp.flowspec.session;

import org.jspecify.annotations.NullMarked;
