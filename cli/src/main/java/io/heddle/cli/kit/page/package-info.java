/** Charts of results as SVG, and self-contained HTML pages with them. Uses no plotting library. */
@NullMarked
package io.heddle.cli.kit.page;

import org.jspecify.annotations.NullMarked;
