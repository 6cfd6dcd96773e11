import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * What a project in source format says of its objects, and where its Apex is.
 *
 * @param apex classes and triggers, in path order
 * @param objects names of the project's own objects, by lower-case name
 * @param fields the project's fields by lower-case object name
 * @param children what refers to an object, by its lower-case name
 * @param hierarchies lower-case names of hierarchical custom settings
 * @param labels lower-case names of custom labels
 */
record Project(
    List<Path> apex,
    Map<String, String> objects,
    Map<String, List<CustomField>> fields,
    Map<String, List<Children>> children,
    Set<String> hierarchies,
    Set<String> labels) {

  /** A field; {@code reference} is null where it is none, {@code computed} where nobody may write it. */
  record CustomField(String name, String type, String reference, boolean computed) {}

  /** The rows of {@code object} that name a row by one of their fields, as the named row sees them. */
  record Children(String name, String object) {}

  static Project read(Path root) throws Exception {
    DocumentBuilder xml = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    Project project =
        new Project(
            new ArrayList<>(), new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashSet<>(), new HashSet<>());
    for (Path path : files(root)) {
      String name = path.getFileName().toString();
      if (name.endsWith(".cls") || name.endsWith(".trigger")) {
        project.apex.add(path);
      } else if (name.endsWith(".object-meta.xml")) {
        project.addObject(name.replace(".object-meta.xml", ""), xml.parse(path.toFile()).getDocumentElement());
      } else if (name.endsWith(".field-meta.xml")) {
        String owner = path.getParent().getParent().getFileName().toString();
        project.addField(owner, xml.parse(path.toFile()).getDocumentElement());
      } else if (name.endsWith(".labels-meta.xml")) {
        NodeList names = xml.parse(path.toFile()).getElementsByTagName("fullName");
        for (int i = 0; i < names.getLength(); i++) {
          project.labels.add(lower(names.item(i).getTextContent()));
        }
      }
    }
    return project;
  }

  static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  private void addObject(String name, Element root) {
    if (name.contains("__")) { // others extend standard objects
      objects.put(lower(name), name);
    }
    if ("Hierarchy".equals(text(root, "customSettingsType"))) {
      hierarchies.add(lower(name));
    }
  }

  private void addField(String owner, Element root) {
    String type = text(root, "type");
    boolean computed = text(root, "formula") != null || "AutoNumber".equals(type) || "Summary".equals(type);
    CustomField field = new CustomField(text(root, "fullName"), type, text(root, "referenceTo"), computed);
    fields.computeIfAbsent(lower(owner), ignored -> new ArrayList<>()).add(field);
    String rows = text(root, "relationshipName");
    if (field.reference != null && rows != null) {
      children.computeIfAbsent(lower(field.reference), ignored -> new ArrayList<>()).add(new Children(rows + "__r", owner));
    }
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> found = Files.walk(root)) {
      return found.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static String text(Element element, String tag) {
    NodeList found = element.getElementsByTagName(tag);
    return found.getLength() == 0 ? null : found.item(0).getTextContent().trim();
  }
}
