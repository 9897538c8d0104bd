/**
 * The data plane as nftables' rules, for hosts without BPF: maps and sets take the place of the
 * program's maps. It outlives the process likewise.
 */
@NullMarked
package io.heddle.dataplane.nft;

import org.jspecify.annotations.NullMarked;
