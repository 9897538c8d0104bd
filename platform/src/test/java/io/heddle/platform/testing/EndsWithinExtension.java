package io.heddle.platform.testing;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** JUnit extension for {@link EndsWithin}. */
final class EndsWithinExtension implements InvocationInterceptor {
  private static final long LOOK_MS = 200;

  @Override
  public void interceptTestMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    proceed(invocation, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    proceed(invocation, context);
  }

  @Override
  public void interceptDynamicTest(
      Invocation<@Nullable Void> invocation,
      DynamicTestInvocationContext test,
      ExtensionContext context)
      throws Throwable {
    proceed(invocation, context);
  }

  private static void proceed(Invocation<@Nullable Void> invocation, ExtensionContext context)
      throws Throwable {
    Deadline deadline = Deadline.ofSeconds(limitSeconds(context));
    AtomicReference<@Nullable String> stacks = new AtomicReference<>();
    Thread watch = watch(Thread.currentThread(), deadline, stacks);
    Throwable failure = null;
    try {
      invocation.proceed();
    } catch (Throwable thrown) {
      failure = thrown;
    }
    watch.interrupt();
    watch.join();
    String late = stacks.get();
    if (late != null) {
      Thread.interrupted();
      throw new AssertionError("not at its end after " + deadline + "; then:\n" + late, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  /*
   * Returns the limit of the test's method, or else of its class or an enclosing class. A dynamic
   * test has the limit of the test that generated it.
   */
  private static long limitSeconds(ExtensionContext context) {
    Optional<ExtensionContext> around = Optional.of(context);
    while (around.isPresent()) {
      ExtensionContext each = around.orElseThrow();
      Optional<EndsWithin> limit =
          each.getElement()
              .flatMap(element -> AnnotationSupport.findAnnotation(element, EndsWithin.class));
      if (limit.isPresent()) {
        return limit.orElseThrow().value();
      }
      around = each.getParent();
    }
    throw new IllegalStateException("no limit around " + context.getDisplayName());
  }

  private static Thread watch(
      Thread test, Deadline deadline, AtomicReference<@Nullable String> stacks) {
    return Thread.ofPlatform()
        .daemon()
        .name("ends-within")
        .start(() -> {
          try {
            while (!deadline.isOver()) {
              TimeUnit.MILLISECONDS.sleep(LOOK_MS);
            }
            stacks.set(stacksOfAll());
            test.interrupt();
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static String stacksOfAll() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      text.append(each.getKey()).append('\n');
      for (StackTraceElement frame : each.getValue()) {
        text.append("    at ").append(frame).append('\n');
      }
    }
    return text.toString();
  }
}
