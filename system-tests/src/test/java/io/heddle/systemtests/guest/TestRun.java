package io.heddle.systemtests.guest;

import java.io.PrintWriter;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Program that runs the given test classes in the guest, and prints the number of passed tests. */
final class TestRun {
  private TestRun() {}

  public static void main(String[] classes) {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String name : classes) {
      request.selectors(DiscoverySelectors.selectClass(name));
    }
    LauncherDiscoveryRequest tests = request.build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(tests, listener, new Line());
    TestExecutionSummary summary = listener.getSummary();
    summary.printFailuresTo(new PrintWriter(System.out), 12);
    System.out.printf(
        "%s passed, %s failed, %s skipped%n",
        summary.getTestsSucceededCount(),
        summary.getTotalFailureCount(),
        summary.getTestsSkippedCount() + summary.getTestsAbortedCount());
    System.exit(summary.getTotalFailureCount() == 0 ? 0 : 1);
  }

  private static final class Line implements TestExecutionListener {
    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      System.out.println("SKIPPED " + test.getDisplayName() + ": " + reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        System.out.println(
            result.getStatus()
                + " "
                + test.getDisplayName()
                + result.getThrowable().map(thrown -> ": " + thrown.getMessage()).orElse(""));
      }
    }
  }
}
