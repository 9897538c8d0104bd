package io.heddle.platform.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test, or each of the class, takes long, and a shorter one looks at the same: {@code ./heddle
 * test --whole} runs it, and {@code ./heddle test} counts it as skipped. Its kind of fault has a
 * short form, always: another test of the class, those rows of this one that are named, or a class
 * that the comment names.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(WholeRunOnlyCondition.class)
public @interface WholeRunOnly {
  /** Rows of a parameterised test that run always, from 1. */
  int[] butRows() default {};
}
