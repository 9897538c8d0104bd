package io.heddle.transport.onesided;

import io.heddle.transport.connection.PendingOneSidedConnect;
import io.heddle.transport.data.OneSidedTarget;
import io.heddle.transport.data.RequestLines;
import org.jspecify.annotations.Nullable;

/** Source of a group's connections with its peers. */
public interface PeerConnector {
  /** Connects to the peer with this handle. Never blocks. */
  PendingOneSidedConnect connect(int trafficClass, long handleAddress, RequestLines answers);

  /** Returns the next peer that has connected; null while there is none. */
  @Nullable OneSidedTarget accept();

  /** Stops listening. */
  void close();
}
