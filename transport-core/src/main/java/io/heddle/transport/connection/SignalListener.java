package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.data.OneSidedTarget;

/** Listener for initiators of one-sided operations. */
public final class SignalListener extends CommListener<OneSidedTarget> {
  SignalListener(ControlLoop loop, Log log) {
    super(loop, log);
  }
}
