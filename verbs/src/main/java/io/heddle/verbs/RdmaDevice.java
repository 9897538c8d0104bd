package io.heddle.verbs;

/** Device listed by a provider, not opened yet (ibv_device). */
public interface RdmaDevice {
  /** Name on this host, such as {@code mlx5_0} or {@code soft0}. */
  String name();

  /** Opens the device. The caller owns the context. */
  DeviceContext open();
}
