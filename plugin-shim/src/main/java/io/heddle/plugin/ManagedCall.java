package io.heddle.plugin;

/**
 * Numbers of the shim's calls to {@link JavaCalls#manage}: {@code enum heddle_manage} of
 * native/src/java_calls.h.
 */
final class ManagedCall {
  static final int INIT = 0;
  static final int FINALIZE = 1;
  static final int DEVICES = 2;
  static final int GET_PROPERTIES = 3;
  static final int LISTEN = 4;
  static final int CONNECT = 5;
  static final int ACCEPT = 6;
  static final int REGISTER_MEMORY = 7;
  static final int DEREGISTER_MEMORY = 8;
  static final int CLOSE_SEND = 9;
  static final int CLOSE_RECEIVE = 10;
  static final int CLOSE_LISTEN = 11;
  static final int PLANES_OF = 12;
  static final int FLUSH_BEFORE_EXIT = 13;
  static final int GROUP_LISTEN = 14;
  static final int GROUP_CONNECT = 15;
  static final int GROUP_CONTEXTS = 16;
  static final int GROUP_REGISTER = 17;
  static final int GROUP_DEREGISTER = 18;
  static final int GROUP_START = 19;
  static final int GROUP_FAILED = 20;
  static final int GROUP_CLOSE = 21;
  static final int GROUP_CLOSE_LISTEN = 22;
  static final int GROUP_FLUSH = 23;
  static final int GROUP_REGISTER_DMA_BUF = 24;

  private ManagedCall() {}
}
