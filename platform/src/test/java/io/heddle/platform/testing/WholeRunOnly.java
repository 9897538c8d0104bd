package io.heddle.platform.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Mark of a long test, or of each test of a class: {@code ./heddle test --whole} runs it, {@code
 * ./heddle test} skips it. A shorter test always covers the same kind of fault: another test of the
 * class, the rows of {@link #alwaysRunRows}, or a class that the test's comment names.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(WholeRunOnlyCondition.class)
public @interface WholeRunOnly {
  /** Numbers of the rows of a parameterised test that always run, from 1. */
  int[] alwaysRunRows() default {};
}
