/**
 * NCCL calls to transport-core: upcall entry points, object tables, error translation. The only
 * module that sees NCCL types.
 */
@NullMarked
package io.heddle.plugin;

import org.jspecify.annotations.NullMarked;
