/**
 * Data plane that is a table of nftables rules, for hosts without BPF. It too outlives the process.
 */
@NullMarked
package io.heddle.dataplane.nft;

import org.jspecify.annotations.NullMarked;
