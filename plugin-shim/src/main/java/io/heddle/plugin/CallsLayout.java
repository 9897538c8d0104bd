package io.heddle.plugin;

/** Offsets of the fields of {@code struct heddle_calls} in native/src/java_calls.h. */
final class CallsLayout {
  static final long SIZE_FIELD = 0;
  static final long JVM_ENDED = 8;
  static final long FIRST_CALL = 16;
  static final int CALLS = 6;
  static final long SIZE = FIRST_CALL + 8L * CALLS;

  private CallsLayout() {}
}
