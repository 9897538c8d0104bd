package io.heddle.systemtests;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Rows of test parameters: options of perftest that no other test uses, alone and combined, for
 * each of the five device tests and in both roles.
 */
public final class PerftestMatrix {
  /* Number of message sizes, the powers of two from 2 bytes to 8 MiB. */
  private static final int SIZES = 23;

  private PerftestMatrix() {}

  /**
   * Returns rows of two columns: a test with its options, and whether Heddle is the server.
   *
   * @param many number of messages of the longest test
   */
  public static Stream<Arguments> rows(int many) {
    List<String> ofBandwidth =
        List.of(
            "-q 3 -n 7",
            "-b -q 2 -n 101",
            "-t 1 -n 50",
            "-t 5 -n 13",
            "-l 5 -n 100",
            "-b -q 2 -l 4 -n 40",
            "-N -n 33",
            "-Q 1 -n 33",
            "-n " + many,
            "-s 1 -n 9",
            "-m 256 -s 10001 -n 41",
            "-a -n 5",
            "-b -a -n 5",
            "-D 2",
            "-b -D 2",
            "-c RC -S 1 --tclass 96 -n 33");
    List<String> ofLatency =
        List.of(
            "-n 5",
            "-s 1 -n 9",
            "-s 8388608 -n 5",
            "-m 512 -s 10001 -n 41",
            "-I 0 -n 33",
            "-c RC -D 2");
    return Stream.of("write_bw", "send_bw", "read_bw", "write_lat", "send_lat")
        .flatMap(test ->
            (test.endsWith("_lat") ? ofLatency : ofBandwidth)
                .stream().map(options -> test + " " + options))
        .flatMap(test -> Stream.of(Arguments.of(test, false), Arguments.of(test, true)));
  }

  /**
   * Returns the message size and the number of messages of each result in an end's output. For a
   * test with a duration it returns the size only, since each end counts its own messages.
   */
  public static List<String> measured(String output, String test) {
    boolean byTime = test.contains("-D");
    return output
        .lines()
        .map(String::strip)
        .filter(line -> line.matches("[0-9]+ +[0-9]+ +([0-9.]+|inf|nan) .*"))
        .map(line -> line.split("\\s+"))
        .map(words -> byTime ? words[0] : words[0] + " " + words[1])
        .toList();
  }

  /**
   * Returns the results that the server must have printed if the client printed this output. A
   * passive server, such as that of one-way writes, prints only the last message size.
   */
  public static List<String> ofServer(String clientsOutput, String test) {
    List<String> rows = measured(clientsOutput, test);
    boolean all = test.contains(" -a");
    if (rows.size() != (all ? SIZES : 1)) {
      throw new AssertionError(test + ": the client has measured " + rows);
    }
    boolean waits = !test.startsWith("send") && !test.contains(" -b");
    return all && waits ? List.of(rows.getLast()) : rows;
  }
}
