package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.data.RecvComm;

/** Listener to which senders of messages connect. */
public final class ListenComm extends CommListener<RecvComm> {
  ListenComm(ControlLoop loop, Log log) {
    super(loop, log);
  }
}
