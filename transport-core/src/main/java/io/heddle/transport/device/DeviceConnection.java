package io.heddle.transport.device;

import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Set;

/** A connection as its device, and what watches the device, see it. */
public interface DeviceConnection extends RoutedConnection, AutoCloseable {
  /** The carrier of this queue pair; −1 where it isn't this connection's. Control thread. */
  int carrierOf(int queuePairNumber);

  /** What this host calls each carrier. */
  List<String> carrierKeys();

  /** The device says that it, or a queue pair of this connection, is broken. */
  void deviceFailed(String story);

  /** This end failed; the peer hears why, unless it is gone itself. Any thread. */
  void reportFailure(String story);

  /** Whether this end has said goodbye, or is about to. Any thread. */
  boolean isLeaving();

  /** This plane of the device carries nothing any more. Control thread. */
  void planeLost(LocalPlane plane, String cause);

  /** This end's address on each plane. */
  List<Gid> localGids();

  /** The host, or the device, has this address no more. Control thread. */
  void addressLost(Gid address, String cause);

  /** This plane of the device has another address than before, which is gone. Control thread. */
  void planeMoved(LocalPlane plane);

  /** This queue pair, perhaps of the connection, is broken. Control thread. */
  void queuePairLost(int queuePairNumber, String story);

  /** The operator wants nothing new on these planes, and on these only. Control thread. */
  void drain(Set<String> keys);

  /**
   * Tells what devices have counted, and looks whether the peer is silent. Control thread.
   *
   * @return whether it is
   */
  boolean pollHealth();

  @Override
  void close();
}
