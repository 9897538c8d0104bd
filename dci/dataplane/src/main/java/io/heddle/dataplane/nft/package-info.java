/**
 * Data plane that is a table of nftables rules, for hosts without BPF. Like the BPF program, the
 * table outlives the process.
 */
@NullMarked
package io.heddle.dataplane.nft;

import org.jspecify.annotations.NullMarked;
