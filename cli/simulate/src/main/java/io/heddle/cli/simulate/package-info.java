/**
 * {@code heddle simulate}: options into settings of {@code io.heddle.sim}, and outcomes into
 * tables, JSON and a page. Everything runs on the command's thread.
 */
@NullMarked
package io.heddle.cli.simulate;

import org.jspecify.annotations.NullMarked;
