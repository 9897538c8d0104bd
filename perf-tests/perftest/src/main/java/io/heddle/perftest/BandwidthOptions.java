package io.heddle.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the bandwidth tests, under perftest's names. */
final class BandwidthOptions {
  private static final int DEFAULT_MODERATION = 100;
  private static final long SMALL_MESSAGE_BYTES = 8192;
  private static final long MOST_FOR_PEAK = 20_000;

  @Option(
      names = {"-q", "--qp"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Queue pairs (${DEFAULT-VALUE}).")
  private int queuePairs;

  @Option(
      names = {"-t", "--tx-depth"},
      paramLabel = "N",
      defaultValue = "128",
      description = "Messages in flight per queue pair (${DEFAULT-VALUE}).")
  private int sendDepth;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "N",
      description = "Receives posted per queue pair (512).")
  private @Nullable Integer receiveDepth;

  @Option(
      names = {"-Q", "--cq-mod"},
      paramLabel = "N",
      description = "Messages per signalled one (100; 1 above 8192 bytes).")
  private @Nullable Integer moderation;

  @Option(
      names = {"-l", "--post_list"},
      paramLabel = "N",
      defaultValue = "1",
      description = "Messages per post (${DEFAULT-VALUE}).")
  private int postList;

  @Option(
      names = {"-b", "--bidirectional"},
      description = "Both ends send.")
  private boolean bidirectional;

  @Option(
      names = {"-N", "--noPeak"},
      description = "Omit the peak, which is also omitted above 20000 messages.")
  private boolean noPeak;

  @Option(names = "--report_gbits", description = "Gb/s (10^9) instead of MiB/s (2^20).")
  boolean gigabits;

  @Option(names = "--report-both", hidden = true)
  private boolean bothApart;

  @Option(
      names = {"-w", "--limit_bw"},
      paramLabel = "RATE",
      defaultValue = "0",
      description = "Exit code 1 if the average rate is below this (${DEFAULT-VALUE}).")
  double leastRate;

  @Option(
      names = {"-y", "--limit_msgrate"},
      paramLabel = "RATE",
      defaultValue = "0",
      description =
          "Exit code 1 below this rate in million messages per second (${DEFAULT-VALUE}).")
  double leastMessageRate;

  Settings.Traffic traffic(TestKind kind, CommonOptions common) {
    if (bothApart) {
      throw common.wrong(
          "--report-both is not supported: -b reports the sum of both directions; leave it out");
    }
    common.requireRange("-q", queuePairs, 1, 16_384);
    common.requireRange("-t", sendDepth, 1, 15_000);
    long size = common.size(kind);
    long iterations = common.iterations(kind);
    int seconds = common.duration();
    boolean byTime = seconds > 0;
    int receives = receiveDepth == null ? kind.defaultReceiveDepth() : receiveDepth;
    common.requireRange("-r", receives, 1, 16_384);
    int depth = byTime ? sendDepth : (int) Math.min(sendDepth, iterations);
    if (kind.isSend() && !byTime) {
      receives = (int) Math.min(receives, iterations);
    }
    common.requireRange("-l", postList, 1, depth);
    if (!byTime && iterations % postList != 0) {
      throw common.wrong("-n " + iterations + " is no multiple of -l " + postList);
    }
    return new Settings.Traffic(
        size,
        common.all,
        iterations,
        seconds,
        common.margin(),
        queuePairs,
        depth,
        receives,
        Math.min(moderation(common, size), depth),
        postList,
        common.inline(kind),
        bidirectional,
        !noPeak && !byTime && iterations <= MOST_FOR_PEAK);
  }

  private int moderation(CommonOptions common, long size) {
    if (moderation != null) {
      common.requireRange("-Q", moderation, 1, 1024);
      if (postList > 1 && postList % moderation != 0) {
        throw common.wrong("-l " + postList + " is no multiple of -Q " + moderation);
      }
      return moderation;
    }
    if (postList > 1) {
      return postList;
    }
    return size > SMALL_MESSAGE_BYTES && !common.all ? 1 : DEFAULT_MODERATION;
  }
}
