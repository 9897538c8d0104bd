package io.heddle.verbs;

/** A device that a provider lists, not opened yet. */
public interface RdmaDevice {
  /** Name on this host, such as {@code mlx5_0} or {@code soft0}. */
  String name();

  /** Opens the device. The caller owns the context. */
  DeviceContext open();
}
