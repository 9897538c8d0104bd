package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.PathMtu;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * perftest's protocol over TCP, step by step; docs/perftest-handshake.md describes it. In every
 * step the client writes first and the server answers with the same kind of record.
 *
 * <p>After the version's NUL, a mark identifies this end as Heddle: perftest reads up to the NUL
 * only. Two Heddle ends have additional steps: a {@link Hello}, the providers' endpoint parameters,
 * and a synchronisation at the end of write_lat.
 */
final class PerftestDialogue {
  /**
   * The version that Debian 12's perftest sends. It is the oldest version that newer perftests
   * still accept.
   */
  static final String VERSION = "6.06";

  private static final String MARK = "heddle/1";
  private static final int VERSION_BYTES = 16;
  private static final double OLDEST = 5.70;
  private static final int CYCLE_BUFFER_BYTES = 4096;
  private static final int CACHE_LINE_BYTES = 64;
  private static final int LARGEST_BUFFER_BYTES = 1 << 24;
  private static final int LARGEST_BLOB_BYTES = 1 << 19;
  private static final long FIRST_ANSWER_MS = 30_000;
  private static final long ANSWER_MS = 120_000;
  private static final long NO_LIMIT = 0;

  private final ControlConnection connection;
  private boolean heddle;

  PerftestDialogue(ControlConnection connection) {
    this.connection = connection;
  }

  /** Lengths from which both ends compute the layout of their buffers. */
  record BufferRules(int cycleBytes, int cacheLineBytes) {}

  ControlConnection connection() {
    return connection;
  }

  /** Returns whether the other end is Heddle too. This is known after {@link #exchangeVersions}. */
  boolean isPeerHeddle() {
    return heddle;
  }

  private byte[] exchange(byte[] own, int peerBytes, long limitMs, String what) {
    if (!connection.isServer()) {
      connection.write(own);
      return connection.take(peerBytes, limitMs, what);
    }
    byte[] theirs = connection.take(peerBytes, limitMs, what);
    connection.write(own);
    return theirs;
  }

  /**
   * Runs step 1: both ends send their version.
   *
   * @return the peer's version
   * @throws HeddleException if the peer isn't perftest, or too old
   */
  String exchangeVersions() {
    byte[] own = versionRecord();
    byte[] theirs;
    if (connection.isServer()) {
      theirs = takeVersion();
      version(theirs);
      connection.write(own);
    } else {
      connection.write(own);
      theirs = takeVersion();
    }
    String version = version(theirs);
    String rest = new String(theirs, StandardCharsets.ISO_8859_1).substring(version.length());
    heddle = rest.startsWith("\0" + MARK);
    return version;
  }

  static byte[] versionRecord() {
    return Arrays.copyOf(
        (VERSION + "\0" + MARK).getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
  }

  private byte[] takeVersion() {
    try {
      return connection.take(VERSION_BYTES, FIRST_ANSWER_MS, "perftest's version");
    } catch (HeddleException nothing) {
      byte[] output = connection.peek();
      throw output.length == 0
          ? new HeddleException(
              nothing.getMessage() + "; check that it is perftest, and idle", nothing)
          : notPerftest(output);
    }
  }

  private String version(byte[] record) {
    int end = 0;
    while (end < record.length && record[end] != 0) {
      end++;
    }
    String text = new String(record, 0, end, StandardCharsets.ISO_8859_1);
    if (!text.matches("[0-9]{1,4}\\.[0-9]{1,6}.*")) {
      throw notPerftest(record);
    }
    double number = Double.parseDouble(text.replaceFirst("^([0-9]+\\.[0-9]+).*", "$1"));
    if (number < OLDEST) {
      throw new HeddleException(
          connection.peer() + " runs perftest " + text + "; at least 5.70 is required");
    }
    return text;
  }

  private HeddleException notPerftest(byte[] output) {
    return new HeddleException(
        connection.peer()
            + " is not perftest: it sent \""
            + printable(output, VERSION_BYTES)
            + "\" where a version was expected");
  }

  /** Returns the bytes as printable text for an error message, whatever they are. */
  static String printable(byte[] bytes, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(most, bytes.length); i++) {
      text.append(bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char) bytes[i] : '.');
    }
    return text.toString();
  }

  /** Runs steps 2 and 3: both ends use the larger of their two values. */
  BufferRules exchangeBufferRules() {
    return new BufferRules(
        larger(CYCLE_BUFFER_BYTES, "its page size"),
        larger(CACHE_LINE_BYTES, "its cache line size"));
  }

  private int larger(int own, String what) {
    byte[] mine = ByteBuffer.allocate(Integer.BYTES).putInt(own).array();
    int theirs = ByteBuffer.wrap(exchange(mine, Integer.BYTES, ANSWER_MS, what)).getInt();
    if (theirs < 1 || theirs > LARGEST_BUFFER_BYTES) {
      throw new HeddleException(
          connection.peer() + " reports " + what + " of " + theirs + " bytes, which is invalid");
    }
    return Math.max(own, theirs);
  }

  /** Runs step 4: both ends use the smaller MTU. */
  PathMtu exchangeMtu(PathMtu own) {
    byte[] mine = {(byte) ('0' + own.code()), 0};
    byte[] theirs = exchange(mine, mine.length, ANSWER_MS, "its MTU");
    int code = theirs[0] - '0';
    /* perftest, too, keeps its own MTU if the other end's is invalid. */
    return code >= 1 && code <= 5 ? own.min(PathMtu.fromCode(code)) : own;
  }

  /** Exchanges a message between two Heddle ends: a length in four bytes, then that many bytes. */
  byte[] exchangeBlob(byte[] own, String what) {
    byte[] mine =
        ByteBuffer.allocate(Integer.BYTES + own.length).putInt(own.length).put(own).array();
    if (!connection.isServer()) {
      connection.write(mine);
      return takeBlob(what);
    }
    byte[] theirs = takeBlob(what);
    connection.write(mine);
    return theirs;
  }

  private byte[] takeBlob(String what) {
    int length = ByteBuffer.wrap(connection.take(Integer.BYTES, ANSWER_MS, what)).getInt();
    if (length < 0 || length > LARGEST_BLOB_BYTES) {
      throw new HeddleException(
          connection.peer() + " announces " + length + " bytes of " + what + ", which is invalid");
    }
    return connection.take(length, ANSWER_MS, what);
  }

  /**
   * Exchanges records of a queue pair in steps 6 and 7. The steps that only synchronise the ends
   * exchange a record too.
   */
  QueuePairRecord exchangeRecord(QueuePairRecord own) {
    byte[] theirs = exchange(own.encode(), QueuePairRecord.BYTES, ANSWER_MS, "its addresses");
    return QueuePairRecord.decode(theirs, connection.peer());
  }

  /** Waits until the other end has reached this step. */
  void synchronise(QueuePairRecord first, String where) {
    exchange(first.encode(), QueuePairRecord.BYTES, NO_LIMIT, where);
  }

  /** Runs step 11, which exchanges five values one by one. */
  BandwidthReport exchangeReport(BandwidthReport own) {
    long size = exchangeLong(own.sizeBytes());
    long iterations = exchangeLong(own.iterations());
    List<Double> mine = List.of(own.peak(), own.average(), own.messageRate());
    double[] theirs = new double[mine.size()];
    for (int i = 0; i < theirs.length; i++) {
      theirs[i] = Double.longBitsToDouble(exchangeLong(Double.doubleToRawLongBits(mine.get(i))));
    }
    return new BandwidthReport(size, iterations, theirs[0], theirs[1], theirs[2]);
  }

  private long exchangeLong(long own) {
    byte[] mine = ByteBuffer.allocate(Long.BYTES).putLong(own).array();
    return ByteBuffer.wrap(exchange(mine, Long.BYTES, ANSWER_MS, "its report")).getLong();
  }

  /**
   * Runs the last step: synchronises the ends and sends {@code done}, which perftest's other end
   * need not read.
   */
  void finish(QueuePairRecord first) {
    synchronise(first, "its goodbye");
    try {
      connection.write("done\0".getBytes(StandardCharsets.US_ASCII));
    } catch (HeddleException closedAlready) {
      /* The peer may close the connection as soon as it has synchronised. */
      return;
    }
    connection.finish();
  }
}
