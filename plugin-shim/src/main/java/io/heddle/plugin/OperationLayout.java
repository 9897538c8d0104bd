package io.heddle.plugin;

import io.heddle.platform.Memory;
import io.heddle.transport.onesided.OneSidedOperation;

/**
 * Layout of {@code struct heddle_operation} of native/src/java_calls.h: offsets of its fields, all
 * of which are 64-bit integers.
 */
final class OperationLayout {
  private static final int GET = 0;
  private static final int TARGET = 8;
  private static final int CONTEXT = 16;
  private static final int LOCAL = 24;
  private static final int LOCAL_OFFSET = 32;
  private static final int LENGTH = 40;
  private static final int REMOTE = 48;
  private static final int REMOTE_OFFSET = 56;
  private static final int SIGNAL = 64;
  private static final int SIGNAL_REGISTRATION = 72;
  private static final int SIGNAL_OFFSET = 80;
  private static final int ADDEND = 88;

  private static final OneSidedOperation.Signal[] SIGNALS = OneSidedOperation.Signal.values();

  private OperationLayout() {}

  static int target(long address) {
    return (int) Memory.getLong(address + TARGET);
  }

  static long local(long address) {
    return Memory.getLong(address + LOCAL);
  }

  static long localOffset(long address) {
    return Memory.getLong(address + LOCAL_OFFSET);
  }

  static OneSidedOperation read(long address, OneSidedOperation operation) {
    operation.get = Memory.getLong(address + GET) != 0;
    operation.context = (int) Memory.getLong(address + CONTEXT);
    operation.lengthBytes = Memory.getLong(address + LENGTH);
    operation.registration = (int) Memory.getLong(address + REMOTE);
    operation.offset = Memory.getLong(address + REMOTE_OFFSET);
    operation.signal = SIGNALS[(int) Memory.getLong(address + SIGNAL)];
    operation.signalRegistration = (int) Memory.getLong(address + SIGNAL_REGISTRATION);
    operation.signalOffset = Memory.getLong(address + SIGNAL_OFFSET);
    operation.addend = Memory.getLong(address + ADDEND);
    return operation;
  }
}
