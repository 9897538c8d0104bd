package io.heddle.perftest;

import org.jspecify.annotations.Nullable;

/**
 * What a test was asked to do.
 *
 * @param host the server, or null to be the server
 * @param tcpPort where the ends talk to each other
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

  /** Whether this end posts the messages that are measured. */
  boolean sends() {
    return kind.isLatency() || traffic.bidirectional() || !isServer();
  }

  /** Whether this end has to post receives. */
  boolean receives() {
    return kind.isSend() && (kind.isLatency() || traffic.bidirectional() || isServer());
  }

  /**
   * What flows.
   *
   * @param sizeBytes length of a message; with {@code allSizes} the largest
   * @param allSizes every power of two up to {@code sizeBytes}, from 2
   * @param iterations messages per queue pair; 0 in a test by time
   * @param durationSeconds length of a test by time; 0 in one by count
   * @param marginSeconds not measured at the begin and at the end of a test by time
   * @param queuePairs queue pairs per plane
   * @param sendDepth messages under way per queue pair
   * @param receiveDepth receives posted per queue pair
   * @param moderation every so many messages ask for a completion
   * @param postList messages per post
   * @param inlineBytes messages of up to so many bytes travel within their requests
   * @param bidirectional both ends send
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

    boolean byTime() {
      return durationSeconds > 0;
    }
  }

  /**
   * Which device, and how queue pairs are connected.
   *
   * @param device its name, or null for the first
   * @param port port number
   * @param gidIndex {@link #NO_GID_INDEX} for the best
   * @param preferIpv6 which addresses are better where there are both
   * @param mtuBytes 0 for the port's
   * @param timeoutCode 4.096 µs · 2^code
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
   * Over which planes.
   *
   * @param asked whether planes were asked for at all; else there's one lane, the GID's
   * @param most use so many at most
   * @param keys only these, empty for all
   * @param weights as HEDDLE_WEIGHTS has them, or null for all the same
   * @param policy how each message is laid over the planes, or null to send whole messages on each
   *     queue pair by turns, as perftest does
   */
  record PlaneChoice(
      boolean asked,
      int most,
      java.util.List<String> keys,
      @Nullable String weights,
      @Nullable String policy) {
    static final PlaneChoice NONE =
        new PlaneChoice(false, Integer.MAX_VALUE, java.util.List.of(), null, null);
  }

  /**
   * What is printed.
   *
   * @param gigabits Gb/s instead of MiB/s
   * @param only one number of this kind instead of the tables, or null
   * @param percentiles also the distribution of the completion times
   * @param jsonFile where the JSON report goes, or null
   * @param leastRate exit code 1 below this average rate, in the unit of the report; 0 for none
   * @param leastMessageRate likewise, in millions of messages a second
   */
  record Output(
      boolean gigabits,
      @Nullable String only,
      boolean percentiles,
      boolean unsorted,
      @Nullable String jsonFile,
      double leastRate,
      double leastMessageRate) {
    boolean whole() {
      return only == null;
    }
  }
}
