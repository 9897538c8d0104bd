package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_port_attr;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * State of a port: the used fields of ibv_port_attr. All are in the struct's first 48 bytes, which
 * the exported function ibv_query_port fills.
 *
 * @param gids length of the GID table
 * @param partitions length of the table of partition keys
 * @param lid local identifier; 0 on Ethernet
 */
record PortQuery(PortAttributes attributes, int gids, int partitions, int lid, boolean ethernet) {
  static PortQuery read(long context, String device, int port) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = ibv_port_attr.allocate(arena);
      Verb.QUERY_PORT.call("port %s of %s".formatted(port, device), context, port, attr.address());
      int mtu = ibv_port_attr.active_mtu(attr);
      int lid = Short.toUnsignedInt(ibv_port_attr.lid(attr));
      boolean ethernet = ibv_port_attr.link_layer(attr) == VerbsConstants.IBV_LINK_LAYER_ETHERNET();
      return new PortQuery(
          new PortAttributes(
              ibv_port_attr.state(attr) == VerbsConstants.IBV_PORT_ACTIVE(),
              port,
              /* A port that was never up reports no MTU. */
              mtu == 0 ? PathMtu.MTU_1024 : PathMtu.fromCode(mtu),
              PortSpeed.bitsPerSecond(
                  context,
                  port,
                  Byte.toUnsignedInt(ibv_port_attr.active_width(attr)),
                  Byte.toUnsignedInt(ibv_port_attr.active_speed(attr))),
              ethernet,
              ethernet ? 0 : lid),
          ibv_port_attr.gid_tbl_len(attr),
          Short.toUnsignedInt(ibv_port_attr.pkey_tbl_len(attr)),
          lid,
          ethernet);
    }
  }
}
