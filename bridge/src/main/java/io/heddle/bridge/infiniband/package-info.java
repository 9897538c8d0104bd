/**
 * RDMA CM (librdmacm) and what an InfiniBand subnet needs beyond Ethernet: groups are joined at the
 * subnet manager, and the paths to hosts are requested from it. {@link
 * io.heddle.bridge.infiniband.RdmaCmSidrService} also serves RoCE devices.
 *
 * <p>Threads: joins belong to the control thread, requests for paths and queue pair numbers to the
 * thread {@code heddle-bridge-numbers}. The data thread reads {@link
 * io.heddle.bridge.infiniband.SubnetHosts} only.
 */
@NullMarked
package io.heddle.bridge.infiniband;

import org.jspecify.annotations.NullMarked;
