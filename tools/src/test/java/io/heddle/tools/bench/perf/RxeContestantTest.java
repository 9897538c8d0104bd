package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import org.junit.jupiter.api.Test;

/** Test of {@link RxeContestant}'s parsers of stock perftest's output and of a guest's counters. */
class RxeContestantTest {
  /* Shortened output of perftest 4.5 and of rxe in Linux 6.1. One counter is made up. */
  private static final String SAID =
      """
       local address: LID 0000 QPN 0x0011 PSN 0x9294fb RKey 0x000294 VAddr 0x007fb9ba87e000
       GID: 253:00:00:01:00:255:00:00:00:00:00:00:00:00:00:02
       local address: LID 0000 QPN 0x0012 PSN 0xe4ce00 RKey 0x000294 VAddr 0x007fb9ba886000
       remote address: LID 0000 QPN 0x0011 PSN 0x1e3202 RKey 0x0002bb VAddr 0x007ff393bd3000
      ---------------------------------------------------------------------------------------
       #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
       32768      300           0.000000            0.039207            0.000150
      ---------------------------------------------------------------------------------------
      rxe0 rcvd_pkts 616
      rxe0 sent_pkts 4928
      rxe1 duplicate_request 7
      rxe1 sent_pkts 616
      """;

  @Test
  void averageQueuePairsAndDeviceCountersAreParsed() {
    assertEquals(0.039207, RxeContestant.goodputGbps(SAID));
    assertEquals("0x0011 0x0012 0x0011", RxeContestant.queuePairs(SAID));
    assertEquals(4928, RxeContestant.counter(SAID, "rxe0", "sent_pkts"));
    assertEquals(616, RxeContestant.counter(SAID, "rxe1", "sent_pkts"));
    assertEquals(7, RxeContestant.counter(SAID, "rxe1", "duplicate_request"));
    assertEquals(0, RxeContestant.counter(SAID, "rxe0", "duplicate_request"), "not printed");
  }

  @Test
  void missingRowOrQueuePairsFailsWithTheOutput() {
    for (String said : new String[] {"", "Couldn't connect to 127.0.0.1:18515"}) {
      assertEquals(
          "no row of 32768 B in the output of perftest: " + said,
          assertThrows(HeddleException.class, () -> RxeContestant.goodputGbps(said)).getMessage());
      assertEquals(
          "no queue pair in the output of perftest: " + said,
          assertThrows(HeddleException.class, () -> RxeContestant.queuePairs(said)).getMessage());
    }
  }
}
