package io.heddle.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.gateway.config.ElephantRules;
import io.heddle.gateway.dataplane.FlowRecord;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Detection of elephants from the data plane's counts, in virtual time. */
final class FlowWatchTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1_000 * MS;
  private static final InetAddress ADDRESS = AddressText.parse("fc00:2::2");
  private static final ElephantRules RULES = new ElephantRules(100_000_000, SECOND, 5 * SECOND);

  private final FlowWatch watch = new FlowWatch(RULES);
  private long nowNs = 77 * SECOND;
  private final long firstNs = nowNs;
  private long lastNs = nowNs;
  private long bytes;

  private static FlowRecord flow(int queuePair, long bytes, long firstNs, long lastNs) {
    return new FlowRecord(
        ADDRESS, queuePair, 0, ADDRESS, 1, bytes, 1, firstNs, lastNs, 0, 1, false);
  }

  /* Lets 200 ms pass with this rate, and takes a sample. */
  private MeasuredFlow step(long bitsPerSecond) {
    nowNs += 200 * MS;
    bytes += bitsPerSecond / 8 / 5;
    if (bitsPerSecond > 0) {
      lastNs = nowNs;
    }
    return watch.sample(List.of(flow(17, bytes, firstNs, lastNs)), nowNs).getFirst();
  }

  @Test
  void flowIsAnElephantAfterAWholePeriodAtTheRate() {
    for (int sample = 1; sample <= 4; sample++) {
      assertFalse(step(100_000_000).elephant(), "after " + 200 * sample + " ms");
    }
    MeasuredFlow rate = step(100_000_000);
    assertTrue(rate.elephant());
    assertEquals(100_000_000, rate.bitsPerSecond());
  }

  @Test
  void burstShorterThanAPeriodIsNoElephant() {
    step(400_000_000);
    for (int sample = 0; sample < 10; sample++) {
      assertFalse(step(10_000_000).elephant());
    }
  }

  @Test
  void elephantEndsBelowHalfTheThreshold() {
    for (int sample = 0; sample < 5; sample++) {
      step(120_000_000);
    }
    for (int sample = 0; sample < 10; sample++) {
      assertTrue(step(60_000_000).elephant(), "60 of 100 is more than half");
    }
    MeasuredFlow rate = step(40_000_000);
    for (int sample = 0; sample < 5; sample++) {
      rate = step(40_000_000);
    }
    assertEquals(40_000_000, rate.bitsPerSecond());
    assertFalse(rate.elephant());
  }

  @Test
  void silenceEndsAnElephant() {
    FlowWatch patient = new FlowWatch(new ElephantRules(8, 10 * SECOND, 5 * SECOND));
    assertTrue(
        patient
            .sample(List.of(flow(17, 1_000_000, firstNs, nowNs)), nowNs + SECOND)
            .getFirst()
            .elephant());
    assertFalse(
        patient
            .sample(List.of(flow(17, 1_000_000, firstNs, nowNs)), nowNs + 5 * SECOND)
            .getFirst()
            .elephant());
  }

  @Test
  void flowRecreatedByTheDataPlaneCountsFromZero() {
    for (int sample = 0; sample < 5; sample++) {
      step(120_000_000);
    }
    MeasuredFlow anew =
        watch.sample(List.of(flow(17, 1_000, nowNs, nowNs + MS)), nowNs + 200 * MS).getFirst();
    assertEquals(8_000, anew.bitsPerSecond());
    assertFalse(anew.elephant());
  }

  @Test
  void manyFlowsKeepTheirOrder() {
    List<FlowRecord> flows = new ArrayList<>();
    for (int queuePair = 2; queuePair < 1_002; queuePair++) {
      flows.add(flow(queuePair, queuePair, firstNs, nowNs));
    }
    List<MeasuredFlow> rates = watch.sample(flows, nowNs + SECOND);
    for (int i = 0; i < flows.size(); i++) {
      assertEquals(flows.get(i), rates.get(i).flow());
    }
  }
}
