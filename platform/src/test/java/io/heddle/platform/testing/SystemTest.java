package io.heddle.platform.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Mark of a test of a whole system: with network namespaces, emulated guests, other projects'
 * daemons, or processes that run for seconds. Model searches and stress runs have the mark too.
 * {@code ./heddle test --system} runs these, {@code ./heddle test} all others. For each kind of
 * system, one test of whole processes is without the mark, so that the short run covers every kind.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Tag("system")
public @interface SystemTest {}
