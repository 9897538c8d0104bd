package io.heddle.daemon;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;

/** Program that reports the effect of a SIGHUP that it sends itself, and ends. */
final class HangUpProgram {
  private static final long PATIENCE_SECONDS = 60;

  private HangUpProgram() {}

  public static void main(String[] ignored) throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    DaemonStart.onHangUp(
        (level, sentence) -> {
          System.out.println(sentence);
          told.countDown();
        },
        () -> {
          System.out.println("read again");
          told.countDown();
        });
    Signal.raise(new Signal("HUP"));
    if (!told.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      System.out.println("nothing");
    }
  }
}
