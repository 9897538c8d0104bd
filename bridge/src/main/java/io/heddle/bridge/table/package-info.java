/** What the tables of a data thread are made of: bounded, found by hash, without allocation. */
@NullMarked
package io.heddle.bridge.table;

import org.jspecify.annotations.NullMarked;
