package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that output doesn't depend on the user's locale. For example, a decimal comma isn't valid
 * JSON, and Turkish lower-case letters would change the names of options.
 */
@Execution(ExecutionMode.CONCURRENT)
class LocaleTest {
  /*
   * Conversions whose result depends on the locale: digits, points, dates and upper case. Text and
   * hexadecimal digits don't depend on it.
   */
  private static final Pattern OF_LOCALE =
      Pattern.compile("%(?:\\d+\\$)?[-#+ 0,(<]*\\d*(?:\\.\\d+)?[defgtDEGTSXBCH]");
  private static final Set<String> CASES = Set.of("toLowerCase", "toUpperCase");
  private static final Set<String> FORMATS = Set.of("format", "printf");
  private static final Set<String> TYPES = Set.of("DecimalFormat", "NumberFormat", "Scanner");

  @Test
  void noTextDependsOnUsersLocale() throws Exception {
    List<Path> files = Repository.javaFiles();
    assertTrue(files.size() > 100, "only " + files.size() + " Java files found");
    assertEquals("", String.join("\n", violations(files)));
  }

  @Test
  void findsLocaleDependentCalls(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("Words.java");
    Files.writeString(
        file,
        """
        class Words {
          String bad(String format, double share, int count) {
            return String.format("%.1f", share)
                + "%d of " .concat("")
                + ("share " + "%6.2f").formatted(share)
                + format.formatted(share)
                + String.format(format, share)
                + "I".toLowerCase()
                + "%,d".formatted(count);
          }

          String good(String format, double share, int count) {
            System.out.printf(java.util.Locale.ROOT, "%d", count);
            return String.format(Locale.ROOT, format, share)
                + "%s of %s, %04x, %-8s %b%n".formatted(count, count, count, "a", true)
                + "I".toLowerCase(Locale.ROOT)
                + Character.toLowerCase('I');
          }
        }
        """);
    assertEquals(6, violations(List.of(file)).size());
  }

  private static List<String> violations(List<Path> files) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> found = new ArrayList<>();
    try (StandardJavaFileManager manager =
        compiler.getStandardFileManager(null, Locale.ROOT, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  manager,
                  null,
                  List.of("-proc:none"),
                  null,
                  manager.getJavaFileObjectsFromPaths(files));
      for (CompilationUnitTree unit : task.parse()) {
        new Finder(Trees.instance(task), unit, found).scan(unit, null);
      }
    }
    return found;
  }

  private static final class Finder extends TreePathScanner<Void, Void> {
    private final Trees trees;
    private final CompilationUnitTree unit;
    private final List<String> found;

    Finder(Trees trees, CompilationUnitTree unit, List<String> found) {
      this.trees = trees;
      this.unit = unit;
      this.found = found;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
      if (call.getMethodSelect() instanceof MemberSelectTree method) {
        judge(call, method.getExpression(), method.getIdentifier().toString());
      }
      return super.visitMethodInvocation(call, null);
    }

    @Override
    public Void visitImport(com.sun.source.tree.ImportTree tree, Void unused) {
      String name = tree.getQualifiedIdentifier().toString();
      if (TYPES.contains(name.substring(name.lastIndexOf('.') + 1))) {
        report(tree, name + " uses the user's locale");
      }
      return super.visitImport(tree, null);
    }

    private void judge(MethodInvocationTree call, ExpressionTree of, String name) {
      List<? extends ExpressionTree> arguments = call.getArguments();
      if (CASES.contains(name) && arguments.isEmpty()) {
        report(call, name + " needs Locale.ROOT");
      } else if (name.equals("formatted") && dependsOnLocale(of)) {
        report(call, "String.format(Locale.ROOT, ...), or %s for a whole number");
      } else if (FORMATS.contains(name)
          && !arguments.isEmpty()
          && (of.toString().equals("String") || name.equals("printf") || isText(arguments.get(0)))
          && !arguments.get(0).toString().contains("Locale")
          && dependsOnLocale(arguments.get(0))) {
        report(call, name + " needs Locale.ROOT");
      }
    }

    /**
     * Returns whether a format may depend on the locale. One that isn't a literal may contain any
     * conversion.
     */
    private static boolean dependsOnLocale(ExpressionTree format) {
      return !isText(format) || OF_LOCALE.matcher(text(format).replace("%%", "")).find();
    }

    private static boolean isText(ExpressionTree tree) {
      return switch (tree) {
        case LiteralTree literal -> literal.getValue() instanceof String;
        case ParenthesizedTree inner -> isText(inner.getExpression());
        case BinaryTree sum -> isText(sum.getLeftOperand()) || isText(sum.getRightOperand());
        default -> false;
      };
    }

    private static String text(ExpressionTree tree) {
      return switch (tree) {
        case LiteralTree literal -> String.valueOf(literal.getValue());
        case ParenthesizedTree inner -> text(inner.getExpression());
        case BinaryTree sum -> text(sum.getLeftOperand()) + text(sum.getRightOperand());
        default -> "";
      };
    }

    private void report(Tree at, String words) {
      long position = trees.getSourcePositions().getStartPosition(unit, at);
      Path file = Path.of(unit.getSourceFile().toUri());
      String name =
          file.startsWith(Repository.ROOT) ? Repository.name(file) : "../" + file.getFileName();
      found.add(name + ":" + unit.getLineMap().getLineNumber(position) + ": " + words);
    }
  }
}
