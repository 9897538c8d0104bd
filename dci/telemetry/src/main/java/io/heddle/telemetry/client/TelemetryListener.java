package io.heddle.telemetry.client;

import io.heddle.telemetry.gnmi.ReportReader.Heard;

/** Hears what one target reports. */
public interface TelemetryListener {
  void heard(Heard what);

  /**
   * The subscription has ended, or couldn't begin; the next try follows by itself.
   *
   * @param why a sentence for people
   */
  void lost(String why);
}
