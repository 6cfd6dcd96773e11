import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes Salesforce's own objects as JSON to standard output: {@code {object: {field: [kind, type]}}}.
 *
 * <p>Argument: the folder of the jars that describe standard objects.
 */
public final class DumpSchema {
  private DumpSchema() {}

  public static void main(String[] words) throws Exception {
    StandardObjects objects = StandardObjects.read(Path.of(words[0]));
    System.out.println(
        objects.all().stream()
            .map(name -> "\"" + name + "\":" + fields(objects.fields(name)))
            .collect(Collectors.joining(",\n", "{", "}")));
  }

  private static String fields(List<StandardObjects.StandardField> fields) {
    return fields.stream()
        .map(field -> "\"" + field.name() + "\":[\"" + field.kind() + "\",\"" + field.type() + "\"]")
        .collect(Collectors.joining(",", "{", "}"));
  }
}
