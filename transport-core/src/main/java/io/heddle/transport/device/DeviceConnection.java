package io.heddle.transport.device;

import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Set;

/** Connection as its device and the device's watchers see it. */
public interface DeviceConnection extends RoutedConnection, AutoCloseable {
  /**
   * Returns the index of the carrier (the planes) that this queue pair sends over; −1 where the
   * queue pair isn't this connection's. Control thread.
   */
  int carrierOf(int queuePairNumber);

  /** Returns this host's key of each carrier. */
  List<String> carrierKeys();

  /** Records that the device reports itself, or a queue pair of this connection, as broken. */
  void deviceFailed(String reason);

  /** Reports this end's failure to the peer, unless the peer is gone. Any thread. */
  void reportFailure(String reason);

  /** Returns whether this end has sent Closing, or is about to. Any thread. */
  boolean isLeaving();

  /** Reports that this plane of the device no longer carries traffic. Control thread. */
  void planeLost(LocalPlane plane, String cause);

  /** Returns this end's address on each plane. */
  List<Gid> localGids();

  /** Reports that the host or the device has lost this address. Control thread. */
  void addressLost(Gid address, String cause);

  /** Reports that this plane of the device has lost its address and has another. Control thread. */
  void planeMoved(LocalPlane plane);

  /** Reports a broken queue pair, which may be another connection's. Control thread. */
  void queuePairLost(int queuePairNumber, String reason);

  /** Drains exactly these planes: they get no new chunks. Control thread. */
  void drain(Set<String> keys);

  /**
   * Publishes the devices' counts and checks whether the peer is silent. Control thread.
   *
   * @return whether the peer is silent
   */
  boolean pollHealth();

  @Override
  void close();
}
