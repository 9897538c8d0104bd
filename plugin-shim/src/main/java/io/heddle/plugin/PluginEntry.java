package io.heddle.plugin;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.OwnDescriptors;
import io.heddle.platform.ShimCalls;
import io.heddle.transport.device.Providers;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/** First entry of the shim into Java, which fills the shim's table with upcall stubs. */
public final class PluginEntry {
  private PluginEntry() {}

  /**
   * Starts Java's side; called once through JNI when the JVM is ready.
   *
   * @param host address of the shim's {@code struct heddle_host}
   * @param calls address of the shim's {@code struct heddle_calls}, to be filled
   * @return 0, or an ncclResult_t after logging the reason
   */
  public static int start(long host, long calls) {
    Log log = Log.toStandardError();
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try {
      /*
       * In a host's own JVM, the plugin's classes have their own loader, which ServiceLoader must
       * use.
       */
      thread.setContextClassLoader(PluginEntry.class.getClassLoader());
      HostTable table = new HostTable(host);
      OwnDescriptors.setTable(table.descriptors());
      Supplier<Providers> providers = loadProvidersInBackground(table);
      log = new NcclLog(table);
      JavaCalls.configure(log, new NcclDevices(table, log, providers));
      fill(calls);
      Runtime.getRuntime().addShutdownHook(new JvmShutdownHook(calls));
      return NcclResult.SUCCESS;
    } catch (Throwable thrown) {
      log.warn("start failed: %s%s", thrown, Traces.shorten(thrown));
      return NcclResult.INTERNAL_ERROR;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /*
   * Loads the transport's providers on another thread while this thread creates the entries. With a
   * second processor, this shortens the start by a fifth. Neither thread waits for the other before
   * its own part is done.
   */
  private static Supplier<Providers> loadProvidersInBackground(HostTable table) {
    FutureTask<Providers> found =
        new FutureTask<>(() -> {
          LinuxCalls.link();
          table.linkLog();
          ShimCalls.canBuildPackets();
          return Providers.ofThisBuild();
        });
    Thread aside = new Thread(found, "heddle-link");
    aside.setDaemon(true);
    try {
      aside.start();
    } catch (OutOfMemoryError noThread) {
      found.run(); /* on this thread instead; later calls report the limit of threads */
    }
    return () -> awaited(found);
  }

  private static Providers awaited(FutureTask<Providers> found) {
    try {
      return found.get();
    } catch (ExecutionException failed) {
      Throwable why = failed.getCause();
      throw new IllegalStateException("providers of devices can't be loaded: " + why, why);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while the providers of devices were loaded");
    }
  }

  private static void fill(long calls) throws ReflectiveOperationException {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    Linker linker = Linker.nativeLinker();
    long cell = calls + CallsLayout.FIRST_CALL;
    for (Call call : CALLS) {
      Class<?>[] types = new Class<?>[call.arguments];
      Arrays.fill(types, long.class);
      MemoryLayout[] layouts = new MemoryLayout[call.arguments];
      Arrays.fill(layouts, JAVA_LONG);
      var handle =
          lookup.findStatic(JavaCalls.class, call.name, MethodType.methodType(int.class, types));
      long stub =
          linker
              .upcallStub(handle, FunctionDescriptor.of(JAVA_INT, layouts), Arena.global())
              .address();
      Memory.ALL.set(Memory.NATIVE_LONG, cell, stub);
      cell += Long.BYTES;
    }
  }

  /** A method of {@link JavaCalls} and the number of its 64-bit arguments. */
  private record Call(String name, int arguments) {}

  /* Entries in the order of struct heddle_calls. */
  private static final Call[] CALLS = {
    new Call("isend", 6),
    new Call("irecv", 7),
    new Call("iflush", 6),
    new Call("progress", 1),
    new Call("registerDmaBuf", 7),
    new Call("manage", 6),
  };
}
