/** Results as pictures, and pictures on one self-contained page. Uses no plotting library. */
@NullMarked
package io.heddle.cli.kit.page;

import org.jspecify.annotations.NullMarked;
