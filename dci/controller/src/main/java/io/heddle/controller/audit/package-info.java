/** What was decided and on what grounds, one JSON line a round, only ever appended. */
@NullMarked
package io.heddle.controller.audit;

import org.jspecify.annotations.NullMarked;
