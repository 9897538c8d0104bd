package io.heddle.daemon;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;

/** Program that reports the effect of a SIGHUP that it sends itself while it starts, and ends. */
final class HangUpProgram {
  private static final long PATIENCE_SECONDS = 60;

  private HangUpProgram() {}

  public static void main(String[] ignored) throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    HangUps hangUps =
        new HangUps((level, sentence) -> {
          System.out.println(sentence);
          told.countDown();
        });
    Signal.raise(new Signal("HUP"));
    hangUps.onEach(() -> {
      System.out.println("read again");
      told.countDown();
    });
    if (!told.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      System.out.println("nothing");
    }
  }
}
