/**
 * Status of a bridge: counters and texts in a mapped file, written by the bridge's own threads and
 * read by any process. The layout is {@code StatusLayout}.
 */
@NullMarked
package io.heddle.bridge.status;

import org.jspecify.annotations.NullMarked;
