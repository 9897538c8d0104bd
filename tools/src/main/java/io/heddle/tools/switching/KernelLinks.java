package io.heddle.tools.switching;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.RtnetlinkRequests;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reader of the state of a switch's links in the kernel, by rtnetlink(7): carriers, queues and
 * routes. The socket stays in the namespace in which it was opened. Used by one thread at a time.
 */
final class KernelLinks implements AutoCloseable {
  private static final int RTM_GETLINK = 18;
  private static final int RTM_GETROUTE = 26;
  private static final int RTM_GETQDISC = 38;
  private static final byte AF_INET6 = 10;

  /* Sizes of struct ifinfomsg, rtmsg and tcmsg (linux/rtnetlink.h). */
  private static final int LINK_BYTES = 16;
  private static final int ROUTE_BYTES = 12;
  private static final int QDISC_BYTES = 20;

  private static final int IFF_LOWER_UP = 0x10000;
  private static final int RT_TABLE_MAIN = 254;
  private static final int RTA_DST = 1;
  private static final int RTA_OIF = 4;
  private static final int TCA_KIND = 1;
  private static final int TCA_OPTIONS = 2;
  private static final int TCA_TBF_PARMS = 1;
  private static final int TCA_TBF_RATE64 = 4;
  private static final ByteBuffer TBF = ByteBuffer.wrap(new byte[] {'t', 'b', 'f', 0});
  private static final int TCA_STATS2 = 7;
  private static final int TCA_STATS_QUEUE = 3;
  private static final int TC_H_ROOT = -1;

  private final RtnetlinkRequests netlink;
  private final Map<String, Integer> indexes;

  private KernelLinks(RtnetlinkRequests netlink, Map<String, Integer> indexes) {
    this.netlink = netlink;
    this.indexes = indexes;
  }

  static KernelLinks open(LabSwitch own) {
    return NetworkNamespace.call(
        own.namespace(),
        () -> {
          Map<String, Integer> indexes = new HashMap<>();
          for (SwitchGroup group : own.groups()) {
            for (SwitchMember member : group.members()) {
              indexes.put(member.link(), LinuxCalls.interfaceIndex(member.link()));
            }
          }
          return new KernelLinks(RtnetlinkRequests.open(), indexes);
        });
  }

  int index(String link) {
    return indexes.getOrDefault(link, 0);
  }

  private static byte[] request(int bytes, byte family) {
    byte[] body = new byte[bytes];
    body[0] = family;
    return body;
  }

  /** Returns the indexes of the interfaces that have a carrier. */
  Set<Integer> interfacesWithCarrier() {
    Set<Integer> carrying = new HashSet<>();
    for (ByteBuffer link : netlink.list(RTM_GETLINK, request(LINK_BYTES, (byte) 0))) {
      if ((link.getInt(8) & IFF_LOWER_UP) != 0) {
        carrying.add(link.getInt(4));
      }
    }
    return carrying;
  }

  /**
   * Returns the interface index of each IPv6 route of the main table. Routes with several
   * interfaces are left out.
   */
  Map<AddressPrefix, Integer> routes() {
    Map<AddressPrefix, Integer> routes = new HashMap<>();
    Set<AddressPrefix> several = new HashSet<>();
    for (ByteBuffer route : netlink.list(RTM_GETROUTE, request(ROUTE_BYTES, AF_INET6))) {
      Map<Integer, ByteBuffer> attributes = attributes(route, ROUTE_BYTES);
      ByteBuffer destination = attributes.get(RTA_DST);
      if ((route.get(4) & 0xff) != RT_TABLE_MAIN || destination == null) {
        continue;
      }
      byte[] address = new byte[destination.capacity()];
      destination.get(0, address);
      AddressPrefix prefix = new AddressPrefix(AddressText.ofBytes(address), route.get(1) & 0xff);
      ByteBuffer by = attributes.get(RTA_OIF);
      if (by == null || routes.put(prefix, by.getInt(0)) != null) {
        several.add(prefix);
      }
    }
    routes.keySet().removeAll(several);
    return routes;
  }

  /**
   * Returns the number of bytes in the root queue of each interface that has one, by interface
   * index.
   */
  Map<Integer, Long> queues() {
    Map<Integer, Long> queues = new HashMap<>();
    for (ByteBuffer queue : netlink.list(RTM_GETQDISC, request(QDISC_BYTES, (byte) 0))) {
      ByteBuffer statistics = attributes(queue, QDISC_BYTES).get(TCA_STATS2);
      if (queue.getInt(12) == TC_H_ROOT && statistics != null) {
        /* Fields of struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits. */
        ByteBuffer own = attributes(statistics, 0).get(TCA_STATS_QUEUE);
        if (own != null) {
          queues.put(queue.getInt(4), Integer.toUnsignedLong(own.getInt(4)));
        }
      }
    }
    return queues;
  }

  /**
   * Returns the rate in bit/s of each interface that a token bucket (tc-tbf(8)) shapes, by
   * interface index.
   */
  Map<Integer, Long> rates() {
    Map<Integer, Long> rates = new HashMap<>();
    for (ByteBuffer queue : netlink.list(RTM_GETQDISC, request(QDISC_BYTES, (byte) 0))) {
      Map<Integer, ByteBuffer> attributes = attributes(queue, QDISC_BYTES);
      ByteBuffer kind = attributes.get(TCA_KIND);
      ByteBuffer options = attributes.get(TCA_OPTIONS);
      if (queue.getInt(12) == TC_H_ROOT && options != null && TBF.equals(kind)) {
        Map<Integer, ByteBuffer> shaping = attributes(options, 0);
        /*
         * TCA_TBF_RATE64 is the rate in bytes per second. TCA_TBF_PARMS contains a struct
         * tc_tbf_qopt, which begins with a tc_ratespec, whose last word is the rate in bytes per
         * second.
         */
        ByteBuffer wide = shaping.get(TCA_TBF_RATE64);
        ByteBuffer narrow = shaping.get(TCA_TBF_PARMS);
        if (wide != null) {
          rates.put(queue.getInt(4), wide.getLong(0) * Byte.SIZE);
        } else if (narrow != null) {
          rates.put(queue.getInt(4), Integer.toUnsignedLong(narrow.getInt(8)) * Byte.SIZE);
        }
      }
    }
    return rates;
  }

  private static Map<Integer, ByteBuffer> attributes(ByteBuffer message, int from) {
    Map<Integer, ByteBuffer> found = new TreeMap<>();
    int at = from;
    while (at + 4 <= message.capacity()) {
      int length = message.getShort(at) & 0xffff;
      if (length < 4 || at + length > message.capacity()) {
        break;
      }
      found.put(
          message.getShort(at + 2) & 0x3fff,
          message.slice(at + 4, length - 4).order(ByteOrder.nativeOrder()));
      at += length + 3 & ~3;
    }
    return found;
  }

  /** Returns, for each member of a group, whether it reaches its destinations. */
  boolean[] alive(SwitchGroup group, Set<Integer> carrying, Map<AddressPrefix, Integer> routes) {
    List<SwitchMember> members = group.members();
    boolean[] alive = new boolean[members.size()];
    for (int i = 0; i < alive.length; i++) {
      SwitchMember member = members.get(i);
      Integer index = index(member.link());
      alive[i] =
          carrying.contains(index)
              && member.ownPrefixes().stream()
                  .allMatch(prefix -> index.equals(routes.get(AddressPrefix.parse(prefix))));
    }
    return alive;
  }

  @Override
  public void close() {
    netlink.close();
  }
}
