package io.heddle.telemetry.client;

import io.heddle.telemetry.gnmi.ReportReader.Decoded;

/** Receiver of one target's reports. */
public interface TelemetryListener {
  void received(Decoded update);

  /**
   * Reports that the subscription has ended or couldn't start. The client subscribes again by
   * itself.
   *
   * @param why reason, as a sentence for the log
   */
  void lost(String why);
}
