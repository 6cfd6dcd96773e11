import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Salesforce's own objects and status codes, read from the type stubs that apex-ls brings: one class per object, one field per field. */
final class StandardObjects {
  private static final String PACKAGE = "com/nawforce/runforce/SObjects/";
  private final ClassLoader stubs;
  private final Map<String, String> names; // by lower-case name

  /** What a field holds. {@code PARENTS}: a record of one of several objects. */
  enum Kind { VALUE, PARENT, PARENTS, CHILDREN }

  /** A field; {@code type} is a primitive's name for a value, and an object's name for others but {@code PARENTS}. */
  record StandardField(String name, Kind kind, String type) {}

  private StandardObjects(ClassLoader stubs, Map<String, String> names) {
    this.stubs = stubs;
    this.names = names;
  }

  /** Reads the jars of a folder that bear objects and primitives. */
  static StandardObjects read(Path folder) throws Exception {
    List<URL> jars = new ArrayList<>();
    Map<String, String> names = new HashMap<>();
    for (File file : folder.toFile().listFiles()) {
      if (!file.getName().matches("(sobject|standard)-types.*\\.jar")) {
        continue;
      }
      jars.add(file.toURI().toURL());
      try (JarFile jar = new JarFile(file)) {
        for (JarEntry entry : Collections.list(jar.entries())) {
          String path = entry.getName();
          if (path.startsWith(PACKAGE) && path.endsWith(".class") && !path.contains("$")) {
            String name = path.substring(PACKAGE.length(), path.length() - ".class".length());
            names.put(name.toLowerCase(Locale.ROOT), name);
          }
        }
      }
    }
    if (names.isEmpty()) {
      throw new IllegalStateException("no standard objects in " + folder);
    }
    return new StandardObjects(new URLClassLoader(jars.toArray(new URL[0]), null), names);
  }

  /** The object's name as Salesforce spells it, or null. */
  String name(String anyCase) {
    return names.get(anyCase.toLowerCase(Locale.ROOT));
  }

  List<String> all() {
    return names.values().stream().sorted().toList();
  }

  /** The fields of an object that is spelt as Salesforce spells it. */
  List<StandardField> fields(String object) {
    try {
      Class<?> type = Class.forName(PACKAGE.replace('/', '.') + object, false, stubs);
      return Arrays.stream(type.getFields())
          .filter(field -> !Modifier.isStatic(field.getModifiers()))
          .map(StandardObjects::described)
          .filter(field -> field != null)
          .toList();
    } catch (ClassNotFoundException | LinkageError error) {
      throw new IllegalStateException("the stub of " + object + " cannot be read", error);
    }
  }

  /** The words of {@code System.StatusCode}. */
  List<String> statusCodes() {
    try {
      Class<?> type = Class.forName("com.nawforce.runforce.System.StatusCode", false, stubs);
      return Arrays.stream(type.getFields()).filter(Field::isEnumConstant).map(Field::getName).toList();
    } catch (ClassNotFoundException error) {
      throw new IllegalStateException("the stubs have no StatusCode", error);
    }
  }

  private static StandardField described(Field field) {
    Class<?> type = field.getType();
    if (type.isArray()) {
      return new StandardField(field.getName(), Kind.CHILDREN, type.getComponentType().getSimpleName());
    }
    if (type.getName().contains(".SObjects.")) {
      return new StandardField(field.getName(), Kind.PARENT, type.getSimpleName());
    }
    if (type.getSimpleName().equals("SObject")) {
      return new StandardField(field.getName(), Kind.PARENTS, "SObject");
    }
    return type.getName().startsWith("com.nawforce.runforce.System.")
        ? new StandardField(field.getName(), Kind.VALUE, type.getSimpleName())
        : new StandardField(field.getName(), Kind.VALUE, "Object");
  }
}
