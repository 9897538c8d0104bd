package io.heddle.systemtests.bridge;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/**
 * Name of a group in a host's configuration: {@code 239.1.1.1}, or, on InfiniBand, the MGID and LID
 * {@code ff12:401b::1@0xc000}.
 *
 * @param lid LID of the group; 0 on Ethernet
 */
record GroupName(Gid address, int lid) {
  static GroupName of(String text) throws IOException {
    String[] parts = text.split("@");
    int lid = parts.length == 1 ? 0 : Integer.decode(parts[1]);
    return new GroupName(Gid.of(InetAddress.getByName(parts[0])), lid);
  }

  static List<Gid> addresses(List<GroupName> groups) {
    return groups.stream().map(GroupName::address).toList();
  }
}
