package io.heddle.plugin;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Table of objects that C holds by id: {@code generation << 24 | slot + 1}, never 0, positive, and
 * not reused before 2^39 other objects were added. A look-up of a removed id finds nothing, so a
 * late call of the host gets an error, never another object.
 *
 * <p>Any thread calls {@link #get} on the data path, which takes no lock. Adding and removing take
 * a lock.
 */
final class IdTable<T> {
  private static final int SLOT_BITS = 24;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
  private static final VarHandle ENTRIES;

  static {
    try {
      ENTRIES = MethodHandles.lookup().findVarHandle(IdTable.class, "entries", Entry[].class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final class Entry {
    final long id;
    final Object object;

    Entry(long id, Object object) {
      this.id = id;
      this.object = object;
    }
  }

  /*
   * Objects by slot, read with acquire (get) and written with release under the lock. Entries are
   * immutable, so a change replaces the slot's entry.
   */
  private @Nullable Entry[] entries = new Entry[16];
  private long nextGeneration = 1;
  private int size;

  long add(T object) {
    synchronized (this) {
      int slot = 0;
      while (slot < entries.length && entries[slot] != null) {
        slot++;
      }
      @Nullable Entry[] next =
          java.util.Arrays.copyOf(entries, slot < entries.length ? entries.length : slot * 2);
      long id = nextGeneration++ << SLOT_BITS | slot + 1;
      next[slot] = new Entry(id, object);
      ENTRIES.setRelease(this, next);
      size++;
      return id;
    }
  }

  @SuppressWarnings("unchecked")
  @Nullable T get(long id) {
    @Nullable Entry[] now = (Entry[]) ENTRIES.getAcquire(this);
    int slot = (int) (id & SLOT_MASK) - 1;
    if (slot < 0 || slot >= now.length) {
      return null;
    }
    Entry entry = now[slot];
    return entry != null && entry.id == id ? (T) entry.object : null;
  }

  /** Removes the object. Returns null if no object has this id. */
  @Nullable T remove(long id) {
    synchronized (this) {
      T object = get(id);
      if (object != null) {
        @Nullable Entry[] next = entries.clone();
        next[(int) (id & SLOT_MASK) - 1] = null;
        ENTRIES.setRelease(this, next);
        size--;
      }
      return object;
    }
  }

  /** Returns the present objects in any order. */
  @SuppressWarnings("unchecked")
  List<T> all() {
    List<T> found = new ArrayList<>();
    for (Entry entry : (Entry[]) ENTRIES.getAcquire(this)) {
      if (entry != null) {
        found.add((T) entry.object);
      }
    }
    return found;
  }

  synchronized int size() {
    return size;
  }
}
