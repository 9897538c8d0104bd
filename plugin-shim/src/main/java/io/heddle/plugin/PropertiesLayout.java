package io.heddle.plugin;

/** Offsets of the fields of {@code struct heddle_properties} in native/src/java_calls.h. */
final class PropertiesLayout {
  static final long NAME = 0;
  static final long PCI_PATH = 8;
  static final long GUID = 16;
  static final long POINTER_SUPPORT = 24;
  static final long REGISTRATION_IS_GLOBAL = 32;
  static final long FORCE_FLUSH = 40;
  static final long SPEED_MEGABITS_PER_SECOND = 48;
  static final long PORT = 56;
  static final long LATENCY_US = 64;
  static final long MAX_COMMS = 72;
  static final long MAX_RECEIVES = 80;
  static final long MAX_P2P_BYTES = 88;
  static final long MAX_COLLECTIVE_BYTES = 96;
  static final long MAX_MULTI_REQUEST_SIZE = 104;
  static final long RAIL_ID = 112;
  static final long PLANE_ID = 120;
  static final long SIZE = 128;

  private PropertiesLayout() {}
}
