package io.heddle.verbs;

/** Destination of datagrams: an address vector that a device has resolved (ibv_ah). */
public interface AddressHandle extends AutoCloseable {
  Gid remoteGid();

  @Override
  void close();
}
