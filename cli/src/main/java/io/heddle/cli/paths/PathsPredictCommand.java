package io.heddle.cli.paths;

import io.heddle.cli.kit.AtomicFile;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.page.PageFile;
import io.heddle.fabric.model.FabricModel;
import io.heddle.fabric.model.ModelText;
import io.heddle.fabric.model.PathsPrediction;
import io.heddle.fabric.model.WorstLinks;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that predicts flows per link from a model of the switches' hashes. */
@Command(
    name = "predict",
    description = {
      "Predicts the links that flows take: flows per link in each tier, how far one tier's choice"
          + " determines the next one's, and whether random choices would be as uneven.",
      "The model is a text file: tier NAME, members N, algorithm crc16 | crc16cc | crc32MSB |"
          + " crc32LSB | xor1 to xor16 | linux | jenkins, fields, seed, shift; and flows SOURCE"
          + " DESTINATION PORTS. docs/fabric.md has an example and the full syntax."
    },
    mixinStandardHelpOptions = true)
public final class PathsPredictCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--model",
      paramLabel = "FILE",
      required = true,
      description = "The model of the fabric.")
  private @Nullable Path model;

  @Option(names = "--json", description = "Print one JSON document instead of the tables.")
  private boolean json;

  @Option(
      names = "--page",
      paramLabel = "FILE",
      description =
          "Also write one self-contained HTML page with plots: the worst link against the number of"
              + " queue pairs, and tier by tier.")
  private @Nullable Path page;

  @Override
  public Integer call() throws IOException {
    Path file = Objects.requireNonNull(model);
    FabricModel fabric = ModelText.parse(file.toString(), Files.readAllLines(file));
    if (page != null) {
      PageFile.requireFolder(page);
    }
    PathsPrediction prediction = PathsPrediction.of(fabric);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(prediction) + "\n" : PredictionText.of(prediction));
    out.flush();
    if (page != null) {
      AtomicFile.write(page, PredictionPage.html(prediction, WorstLinks.of(fabric)));
    }
    return 0;
  }
}
