package io.heddle.softdevice.io;

import io.heddle.verbs.Gid;

/**
 * Socket options for IPv4 and IPv6. An IPv6 socket that is bound to a mapped address uses the
 * options of IPv4.
 */
enum IpOptions {
  IPV4(0, 10, 14, 1, 13, 25),
  IPV6(41, 23, 24, 67, 66, 77);

  final int level;
  final int mtuDiscover;
  final int mtu;
  final int trafficClass;
  final int receiveTrafficClass;
  final int fragmentSize;

  IpOptions(
      int level,
      int mtuDiscover,
      int mtu,
      int trafficClass,
      int receiveTrafficClass,
      int fragmentSize) {
    this.level = level;
    this.mtuDiscover = mtuDiscover;
    this.mtu = mtu;
    this.trafficClass = trafficClass;
    this.receiveTrafficClass = receiveTrafficClass;
    this.fragmentSize = fragmentSize;
  }

  static IpOptions of(Gid address) {
    return address.isIpv4Mapped() ? IPV4 : IPV6;
  }
}
