package io.heddle.transport.onesided;

import io.heddle.transport.connection.OneSidedCall;
import io.heddle.transport.data.PeerSignals;
import io.heddle.transport.data.RequestLines;
import org.jspecify.annotations.Nullable;

/** How a group comes by connections with its peers. */
public interface PeerConnector {
  /** Calls the peer with this handle. Never blocks. */
  OneSidedCall call(int trafficClass, long handleAddress, RequestLines answers);

  /** The next peer that has called; null while there is none. */
  @Nullable PeerSignals accept();

  /** Nobody is heard any more. */
  void close();
}
