/**
 * The data plane as nftables' rules, for hosts without BPF: maps and sets in place of a program's
 * maps. It outlives the process likewise.
 */
@NullMarked
package io.heddle.dataplane.nft;

import org.jspecify.annotations.NullMarked;
