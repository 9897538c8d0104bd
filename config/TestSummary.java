import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Summary of the JUnit reports of surefire and ctest. It names the skipped tests and the failed
 * ones, with their messages, and ends with {@code N passed, N failed, N skipped}. The exit status
 * is 0 only if nothing failed.
 *
 * <p>Usage: {@code java TestSummary.java repository maven-status maven-log}
 */
final class TestSummary {
  private static final int LINES = 40;
  private static final int LINE_LENGTH = 400;
  private static final String CAUSE = "Caused by: ";

  private final List<String> failed = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  private int passed;

  public static void main(String[] arguments) throws Exception {
    TestSummary summary = new TestSummary();
    Path root = Path.of(arguments[0]);
    for (Path report : reports(root)) {
      summary.read(root, report);
    }
    if (!arguments[1].equals("0")) {
      summary.failed.add("the build: see " + arguments[2]);
    }
    if (summary.passed == 0) {
      summary.failed.add("no test passed: see " + arguments[2]);
    }
    System.exit(summary.print());
  }

  private static List<Path> reports(Path root) throws IOException {
    List<Path> reports = new ArrayList<>();
    try (Stream<Path> folders = Files.walk(root, 2)) {
      for (Path module :
          folders.filter(each -> Files.exists(each.resolve("pom.xml"))).sorted().toList()) {
        for (String folder : List.of("surefire-reports", "ctest-reports")) {
          Path at = module.resolve("target").resolve(folder);
          if (Files.isDirectory(at)) {
            try (Stream<Path> files = Files.list(at)) {
              reports.addAll(
                  files.filter(file -> file.toString().endsWith(".xml")).sorted().toList());
            }
          }
        }
      }
    }
    return reports;
  }

  private void read(Path root, Path report) throws Exception {
    DocumentBuilder builder = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
    NodeList cases = builder.parse(report.toFile()).getElementsByTagName("testcase");
    Path target = report.getParent().getParent();
    String module = root.relativize(target.getParent()).toString();
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      String className = test.getAttribute("classname");
      String name = test.getAttribute("name");
      if (!className.isEmpty() && !className.equals(name)) {
        name = className.substring(className.lastIndexOf('.') + 1) + "." + name;
      }
      name = module + ": " + name;
      Element skip = child(test, "skipped");
      Element failure =
          child(test, "failure") != null ? child(test, "failure") : child(test, "error");
      if (failure != null) {
        failed.add(name + reason(failure, test) + message(failure));
      } else if (skip != null) {
        skipped.add(name + reason(skip, test));
      } else {
        passed++;
      }
    }
  }

  private static Element child(Element parent, String name) {
    return (Element) parent.getElementsByTagName(name).item(0);
  }

  /**
   * Returns the reason of a skipped or failed test: the message, or for ctest, which reports only
   * an exit status, the last line that the test printed.
   */
  private static String reason(Element outcome, Element test) {
    String message = outcome.getAttribute("message").strip();
    if (message.isEmpty()) {
      /* For a failed assumption, surefire reports the message only in the stack trace. */
      message = outcome.getTextContent().strip().lines().findFirst().orElse("");
      message = message.substring(message.indexOf(": ") + 1).strip();
    }
    if (message.isEmpty() || message.equals("Failed") || message.startsWith("SKIP_")) {
      Element output = child(test, "system-out");
      List<String> lines =
          output == null ? List.of() : output.getTextContent().strip().lines().toList();
      if (!lines.isEmpty()) {
        message = lines.getLast();
      }
    }
    return message.isEmpty() ? "" : " (" + message.lines().findFirst().orElse("") + ")";
  }

  /**
   * Returns the lines about a failure: the end of a long message, and the cause. If only this
   * summary is kept of a run, these lines must suffice to diagnose a rare failure.
   */
  private static String message(Element failure) {
    List<String> lines = new ArrayList<>();
    failure.getAttribute("message").strip().lines().skip(1).forEach(lines::add);
    failure.getTextContent().lines().filter(line -> line.startsWith(CAUSE)).forEach(lines::add);
    StringBuilder said = new StringBuilder();
    for (String line : lines.subList(Math.max(0, lines.size() - LINES), lines.size())) {
      said.append("%n    | ".formatted()).append(line, 0, Math.min(line.length(), LINE_LENGTH));
    }
    return said.toString();
  }

  private int print() {
    /*
     * Failures are printed last, so that they are present if only the end of a long output is kept.
     */
    print("Skipped:", skipped);
    print("Failed:", failed);
    System.out.printf("%s passed, %s failed, %s skipped%n", passed, failed.size(), skipped.size());
    return failed.isEmpty() ? 0 : 1;
  }

  private static void print(String title, List<String> tests) {
    if (!tests.isEmpty()) {
      System.out.println(title);
      tests.forEach(test -> System.out.println("  " + test));
    }
  }
}
