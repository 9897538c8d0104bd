package io.heddle.verbs;

/** Where datagrams go: an address vector that a device has resolved (ibv_ah). */
public interface AddressHandle extends AutoCloseable {
  Gid remoteGid();

  @Override
  void close();
}
