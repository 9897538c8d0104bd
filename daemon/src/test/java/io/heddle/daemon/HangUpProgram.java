package io.heddle.daemon;

import io.heddle.platform.Log;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;

/** Program that reports the effect of a SIGHUP that it sends itself while it starts, and ends. */
final class HangUpProgram {
  private static final long PATIENCE_SECONDS = 60;

  /** Argument that makes the program one without a reload. */
  static final String IGNORE = "ignore";

  private HangUpProgram() {}

  public static void main(String[] arguments) throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    Log log =
        (level, sentence) -> {
          System.out.println(sentence);
          told.countDown();
        };
    if (List.of(arguments).contains(IGNORE)) {
      HangUps.ignore(log);
      Signal.raise(new Signal("HUP"));
    } else {
      HangUps hangUps = new HangUps(log);
      Signal.raise(new Signal("HUP"));
      hangUps.onEach(() -> {
        System.out.println("read again");
        told.countDown();
      });
    }
    if (!told.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      System.out.println("nothing");
    }
  }
}
