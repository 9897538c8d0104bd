package io.heddle.routes;

import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.List;

/**
 * Destination of a table of routes: the routes file ({@link RoutePublisher}), or a simulator's
 * memory. Used by one thread. Changes are made between {@link #begin} and {@link #commit}.
 */
public interface RouteTarget {
  /** Returns the table's path, for display. */
  Path path();

  /** Returns whether another process has damaged the table, so that it must be replaced. */
  boolean isTruncated();

  /**
   * Replaces the table by a new table with the same planes and rules but without routes.
   *
   * @throws HeddleException if the new table can't be created
   */
  void renew();

  /**
   * Sets the rules by which readers compute weights from now on. Not allowed between {@link #begin}
   * and {@link #commit}.
   */
  void setRules(WeightRules next);

  /** Returns the planes, in order of their numbers. */
  List<PublishedPlane> planes();

  /**
   * Adds a plane, or changes the plane that has the same key. Not allowed between {@link #begin}
   * and {@link #commit}.
   *
   * @return the plane's number, which it keeps
   * @throws HeddleException for too many planes
   */
  int setPlane(PublishedPlane plane);

  /** Begins a change. Readers see the whole change or nothing of it. */
  void begin();

  /**
   * Sets a plane's cell of a prefix; {@link RouteCell#EMPTY} removes it.
   *
   * @param high the prefix's first 64 bits; bits beyond its length are zero
   * @param plane a number that {@link #setPlane} returned
   * @throws HeddleException if there is no room
   */
  void set(long high, long low, int length, int plane, int cell);

  /**
   * Ends the change.
   *
   * @return whether anything changed
   */
  boolean commit();

  /**
   * Makes room for this many prefixes, so that setting them can't fail.
   *
   * @throws HeddleException if there is no room; nothing changes then
   */
  void reserve(int prefixes);

  /** Removes all routes, as part of a change. */
  void clear();

  /** Returns the number of prefixes in the table. */
  int entries();
}
