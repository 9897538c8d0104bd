package io.heddle.bridge.infiniband;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.verbs.Gid;

/** Path records that replace those of a subnet manager. */
public final class KnownPorts {
  static final Gid OWN_PORT = new Gid(0xfe80L << 48, 0xff);

  private KnownPorts() {}

  /** Returns a map without hosts, in the default partition. */
  public static SubnetHosts none(Gid source) {
    return new SubnetHosts(source, 0xffff);
  }

  static HostPath path(Gid port, int lid, int partitionKey) {
    return new HostPath(OWN_PORT, port, lid, 3, 16, 0, partitionKey, 4096);
  }

  /** Adds a host with its port. */
  public static void learn(SubnetHosts hosts, Gid host, Gid port, int lid) {
    assertEquals("", hosts.learn(host, path(port, lid, 0xffff), 0));
  }
}
