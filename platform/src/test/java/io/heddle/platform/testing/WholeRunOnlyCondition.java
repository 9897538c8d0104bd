package io.heddle.platform.testing;

import static org.junit.jupiter.api.extension.ConditionEvaluationResult.disabled;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.enabled;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** JUnit condition for {@link WholeRunOnly}. */
final class WholeRunOnlyCondition implements ExecutionCondition {
  /**
   * Name of the configuration parameter of JUnit, or system property, that {@code ./heddle test
   * --whole} sets.
   */
  private static final String PROPERTY = "heddle.test.whole";

  private static final Pattern ROW = Pattern.compile("\\[test-template-invocation:#(\\d+)]$");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    Optional<WholeRunOnly> annotation =
        AnnotationSupport.findAnnotation(context.getElement(), WholeRunOnly.class);
    boolean whole = context.getConfigurationParameter(PROPERTY, Boolean::valueOf).orElse(false);
    if (annotation.isEmpty() || whole) {
      return enabled("");
    }
    int[] always = annotation.get().alwaysRunRows();
    Matcher row = ROW.matcher(context.getUniqueId());
    boolean runs =
        row.find()
            ? IntStream.of(always).anyMatch(Integer.valueOf(row.group(1))::equals)
            : always.length > 0;
    return runs ? enabled("") : disabled("./heddle test --whole runs it");
  }
}
