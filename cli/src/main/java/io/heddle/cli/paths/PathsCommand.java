package io.heddle.cli.paths;

import picocli.CommandLine.Command;

/** Commands {@code heddle paths}, about the links of a fabric that flows take. */
@Command(
    name = "paths",
    description =
        "Measures, predicts and chooses the links of a fabric that RoCEv2 flows take, by source"
            + " port.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      PathsMeasureCommand.class,
      PathsFitCommand.class,
      PathsPickCommand.class,
      PathsPredictCommand.class
    })
public final class PathsCommand {}
