package io.heddle.transport.failover;

import io.heddle.transport.data.CarrierPairs;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.device.PeerEvents;
import io.heddle.transport.device.PlaneLog;
import java.util.List;

/** View of a connection that failover has. */
public interface FailoverConnection extends PlaneLog.Source {
  /** Returns the name of each carrier that both ends use. */
  List<String> carrierNames();

  /** Returns the name of each plane that both ends use. */
  List<String> pairNames();

  /** Returns the key that this host has for each plane. */
  List<String> planeKeys();

  /** Returns the queue pairs, once the planes are paired. */
  CarrierPairs pairs();

  /** Publishes changed plane addresses to the counters and the routes. */
  void publishAddresses();

  /** Returns the weights of the planes, even where a carrier spans several planes. */
  ConnectionWeights planeWeights();

  /** Returns the weights in effect of the carriers. */
  ConnectionWeights carrierWeights();

  /** Returns the health of the connection's two ends. */
  ConnectionHealth health();

  /** Returns the log of planes that connections leave. */
  PlaneLog planeLog();

  /** Returns the log of events that concern many connections. */
  PeerEvents events();
}
