package io.heddle.platform.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Time limit of this test, or of each test of the class, in seconds of an idle machine ({@link
 * Deadline}). A test that exceeds it is interrupted, and fails with the stacks of all threads.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(EndsWithinExtension.class)
public @interface EndsWithin {
  /** Returns the limit in seconds. */
  long value();
}
