package io.heddle.transport.failover;

import io.heddle.transport.data.CarrierPairs;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.device.PeerEvents;
import io.heddle.transport.device.PlaneLog;
import java.util.List;

/** What failover asks of the connection that it keeps on its planes. */
public interface FailoverConnection extends PlaneLog.Source {
  /** What both ends call each carrier. */
  List<String> carrierNames();

  /** What both ends call each plane. */
  List<String> pairNames();

  /** Returns the key that this host has for each plane. */
  List<String> planeKeys();

  /** The queue pairs, once the planes are paired. */
  CarrierPairs pairs();

  /** What hangs on the planes' addresses hears of them, where they have changed. */
  void publishAddresses();

  /** The weights of the planes, whether each is a carrier or not. */
  ConnectionWeights planeWeights();

  /** The weights of the carriers, with all that bears on them. */
  ConnectionWeights carrierWeights();

  /** Whether both ends are there and well. */
  ConnectionHealth health();

  /** Who tells of planes that connections leave. */
  PlaneLog planeLog();

  /** Who tells of what happens to many connections. */
  PeerEvents events();
}
