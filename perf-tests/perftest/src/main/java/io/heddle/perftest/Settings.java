package io.heddle.perftest;

import org.jspecify.annotations.Nullable;

/**
 * Settings of a test.
 *
 * @param host the server, or null to be the server
 * @param tcpPort port of the control connection
 */
record Settings(
    TestKind kind,
    @Nullable String host,
    int tcpPort,
    Traffic traffic,
    Link link,
    PlaneChoice planes,
    Output output) {

  static final int NO_GID_INDEX = -1;

  boolean isServer() {
    return host == null;
  }

  /** Returns whether this end posts the measured messages. */
  boolean sends() {
    return kind.isLatency() || traffic.bidirectional() || !isServer();
  }

  /** Returns whether this end has to post receives. */
  boolean receives() {
    return kind.isSend() && (kind.isLatency() || traffic.bidirectional() || isServer());
  }

  /**
   * Traffic of a test.
   *
   * @param sizeBytes length of a message; the largest length with {@code allSizes}
   * @param allSizes whether every power of two from 2 up to {@code sizeBytes} is tested
   * @param iterations number of messages per queue pair; 0 in a test with a duration
   * @param durationSeconds length of a test with a duration, otherwise 0
   * @param marginSeconds time excluded at the start and at the end of a test with a duration
   * @param queuePairs queue pairs per plane
   * @param sendDepth messages in flight per queue pair
   * @param receiveDepth receives posted per queue pair
   * @param moderation one of this many messages is signalled
   * @param postList messages per post
   * @param inlineBytes longest message sent inline
   * @param bidirectional whether both ends send
   * @param findPeak whether each message's times are kept for the peak
   */
  record Traffic(
      long sizeBytes,
      boolean allSizes,
      long iterations,
      int durationSeconds,
      int marginSeconds,
      int queuePairs,
      int sendDepth,
      int receiveDepth,
      int moderation,
      int postList,
      int inlineBytes,
      boolean bidirectional,
      boolean findPeak) {

    boolean isTimed() {
      return durationSeconds > 0;
    }
  }

  /**
   * Device, and parameters of the connections.
   *
   * @param device name of the device, or null for the first
   * @param port port number
   * @param gidIndex index of the GID; {@link #NO_GID_INDEX} for the best GID
   * @param preferIpv6 whether IPv6 is preferred if there are addresses of both kinds
   * @param mtuBytes MTU in bytes; 0 for the port's MTU
   * @param timeoutCode code of the acknowledgement timeout, which is 4.096 µs · 2^code
   */
  record Link(
      @Nullable String device,
      int port,
      int gidIndex,
      boolean preferIpv6,
      int mtuBytes,
      int timeoutCode,
      int retryCount,
      int trafficClass,
      int serviceLevel) {}

  /**
   * Choice of planes.
   *
   * @param requested whether planes were requested; otherwise the test uses the address of the GID
   *     only
   * @param most largest number of planes
   * @param keys keys of the only planes to use, or empty to use all
   * @param weights weights of the planes in the syntax of HEDDLE_WEIGHTS, or null for equal weights
   * @param policy spray policy that distributes each message's chunks over the planes, or null to
   *     send whole messages on the queue pairs in turn, as perftest does
   */
  record PlaneChoice(
      boolean requested,
      int most,
      java.util.List<String> keys,
      @Nullable String weights,
      @Nullable String policy) {
    static final PlaneChoice NONE =
        new PlaneChoice(false, Integer.MAX_VALUE, java.util.List.of(), null, null);
  }

  /**
   * Output of a test.
   *
   * @param gigabits whether rates are in Gb/s instead of MiB/s
   * @param only kind of the only number to print, or null to print the tables
   * @param percentiles whether to print the distribution of completion times
   * @param jsonFile path of the JSON report, or null
   * @param leastRate least average rate, in the unit of the report; below it the exit code is 1; 0
   *     for no limit
   * @param leastMessageRate least message rate, in millions per second; below it the exit code is
   *     1; 0 for no limit
   */
  record Output(
      boolean gigabits,
      @Nullable String only,
      boolean percentiles,
      boolean unsorted,
      @Nullable String jsonFile,
      double leastRate,
      double leastMessageRate) {
    boolean isFullReport() {
      return only == null;
    }
  }
}
