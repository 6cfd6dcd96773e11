import apex.common.base.Initializer;
import apex.common.base.Initializers;
import apex.jorje.semantic.ast.modifier.ModifierGroups;
import apex.jorje.semantic.common.TestSObjectTypeInfos;
import apex.jorje.semantic.common.TestStandardTypeInfos;
import apex.jorje.semantic.common.TestSymbolProvider;
import apex.jorje.semantic.compiler.Namespace;
import apex.jorje.semantic.compiler.Namespaces;
import apex.jorje.semantic.compiler.SourceFile;
import apex.jorje.semantic.compiler.sfdc.SymbolProvider;
import apex.jorje.semantic.symbol.member.method.MethodInfo;
import apex.jorje.semantic.symbol.member.method.MethodTable;
import apex.jorje.semantic.symbol.member.method.StandardMethodTable;
import apex.jorje.semantic.symbol.member.variable.FieldTable;
import apex.jorje.semantic.symbol.member.variable.MultipleFieldTable;
import apex.jorje.semantic.symbol.member.variable.StandardFieldInfo;
import apex.jorje.semantic.symbol.resolver.SymbolResolver;
import apex.jorje.semantic.symbol.type.InternalTypeInfo;
import apex.jorje.semantic.symbol.type.InternalTypeInfos;
import apex.jorje.semantic.symbol.type.StandardTypeInfoImpl;
import apex.jorje.semantic.symbol.type.TypeInfo;
import apex.jorje.semantic.symbol.type.TypeInfos;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Answers the front end's questions for types that the project does not declare. */
final class Symbols implements SymbolProvider {
  private static final String EXCEPTIONS = "com.salesforce.api.exception.";
  private static final String DESCRIBED = "Schema.DescribeSObjectResult";
  private static final String SCHEMA = "com.salesforce.api.schema.";
  private static final Initializer<FieldTable, TypeInfo> NOTHING =
      Initializers.memoize(self -> new MultipleFieldTable().resolve());
  private final Map<String, StandardLibrary.Stub> stubs;
  private final SObjects objects;
  private final Set<String> labels;
  private final Map<String, TypeInfo> builtIn = builtIn();
  private final Map<String, TypeInfo> known = new HashMap<>();
  private SymbolResolver resolver;
  private TypeInfo described;

  Symbols(Map<String, StandardLibrary.Stub> stubs, SObjects objects, Set<String> labels) {
    this.stubs = stubs;
    this.objects = objects;
    this.labels = labels;
  }

  /** A type of the platform; {@code otherwise} until the front end has asked its first question. */
  TypeInfo platform(String name, TypeInfo otherwise) {
    TypeInfo found = resolver == null ? null : find(resolver, null, name);
    return found == null ? otherwise : found;
  }

  @Override
  public TypeInfo find(SymbolResolver asking, TypeInfo from, String name) {
    if (resolver == null) {
      resolver = asking;
      described = find(asking, null, DESCRIBED); // while the front end still reads: later it takes no more sources
    }
    String key = Project.lower(name).replace('/', '.').replace('$', '.');
    if (key.startsWith(EXCEPTIONS) && key.endsWith("exception")) {
      key = "system." + key.substring(EXCEPTIONS.length());
    } else if (key.startsWith("java.") || key.startsWith("com.") && !key.startsWith(SCHEMA + "sobject")) {
      return null;
    }
    if (key.endsWith("system.apexbaseexception")) {
      return known.computeIfAbsent(
          "exception",
          ignored ->
              merged(InternalTypeInfos.APEX_EXCEPTION, TestStandardTypeInfos.APEX_EXCEPTION, NOTHING,
                  () -> List.of(TestStandardTypeInfos.APEX_EXCEPTION, TypeInfos.EXCEPTION)));
    }
    if (key.equals("schema.sobjecttype") || key.equals(SCHEMA + "sobjecttype")) {
      return token("sobjecttype", InternalTypeInfos.SCHEMA_SOBJECT_TYPE);
    }
    if (key.equals("schema.sobjectfield") || key.equals(SCHEMA + "sobjectfield")) {
      return token("sobjectfield", InternalTypeInfos.SCHEMA_SOBJECT_FIELD);
    }
    TypeInfo own = builtIn.get(Project.lower(name));
    if (own != null && (!stubs.containsKey(key) || key.equals("system.comparator"))) {
      return own;
    }
    if (!known.containsKey(key)) {
      known.put(key, stubbed(key, name));
    }
    return known.get(key);
  }

  private TypeInfo stubbed(String key, String name) {
    if (stubs.containsKey(key)) {
      return attached(key, name);
    }
    int dot = key.lastIndexOf('.');
    if (dot > 0 && stubs.containsKey(key.substring(0, dot))) { // an inner class comes with its outer one
      find(resolver, null, key.substring(0, dot));
      return resolver.get(name);
    }
    return null;
  }

  private TypeInfo attached(String key, String name) {
    StandardLibrary.Stub stub = stubs.get(key);
    SourceFile file =
        SourceFile.builder()
            .setBody(stub.source())
            .setNamespace(Namespaces.create(stub.namespace()))
            .setKnownName(stub.name())
            .setTrusted(true)
            .setFileBased(true)
            .build();
    return resolver.getCompilerService().attachSource(resolver, file, name);
  }

  /**
   * A token's type under the front end's own name, with the methods of its stub. These are read when first asked for:
   * the stub names the token itself, and must meet the type that everybody else meets.
   */
  private TypeInfo token(String name, InternalTypeInfo type) {
    return known.computeIfAbsent(
        "token " + name,
        ignored -> {
          boolean ofObjects = name.equals("sobjecttype");
          Initializer<FieldTable, TypeInfo> fields = ofObjects ? Initializers.memoize(this::describes) : NOTHING;
          return merged(type, type, fields, () -> List.of(attached("schema." + name, "schema/" + name)));
        });
  }

  /** {@code Schema.SObjectType.Lead} and its like: what is known of each object. */
  private FieldTable describes(TypeInfo self) {
    FieldTable table = new MultipleFieldTable();
    for (String name : objects.names()) {
      table.add(
          StandardFieldInfo.builder()
              .setName(name)
              .setModifiers(ModifierGroups.GLOBAL_STATIC)
              .setDefiningType(self)
              .setType(described)
              .build());
    }
    return table.resolve();
  }

  private static TypeInfo merged(
      InternalTypeInfo type,
      TypeInfo base,
      Initializer<FieldTable, TypeInfo> fields,
      Supplier<List<TypeInfo>> sources) {
    Initializer<MethodTable, TypeInfo> methods =
        Initializers.memoize(
            self -> {
              StandardMethodTable table = new StandardMethodTable();
              for (TypeInfo source : sources.get()) {
                for (MethodInfo method : source.methods().all()) {
                  if (table.get(method.getSignature()) == null) {
                    table.addNoDuplicatesAllowed(method);
                  }
                }
              }
              return table.resolve();
            });
    return StandardTypeInfoImpl.builder()
        .setApexName(type.getApexName())
        .setBytecodeName(type.getBytecodeName())
        .setNamespace(type.getNamespace())
        .setBasicType(type.getBasicType())
        .setParents(base.parents())
        .setMethods(methods)
        .setVirtualMethods(methods)
        .setFields(fields)
        .setUnitType(type.getUnitType())
        .setModifiers(type.getModifiers())
        .buildResolved();
  }

  /** The front end keeps its primitives and collections in a private table of its test library. */
  @SuppressWarnings("unchecked")
  private static Map<String, TypeInfo> builtIn() {
    try {
      Field table = TestSymbolProvider.class.getDeclaredField("BUILT_IN_TYPES");
      table.setAccessible(true);
      Map<String, TypeInfo> types = new HashMap<>();
      ((Map<String, TypeInfo>) table.get(null)).forEach((name, type) -> types.put(Project.lower(name), type));
      return types;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("this front end keeps its types elsewhere; use the pinned version", error);
    }
  }

  @Override
  public TypeInfo getSObjectType(TypeInfo from, String name) {
    return objects.find(name);
  }

  @Override
  public TypeInfo getAggregateResultType(TypeInfo from) {
    return TestSObjectTypeInfos.AGGREGATE_RESULT;
  }

  @Override
  public boolean hasLabelField(TypeInfo from, Namespace namespace, String name) {
    return labels.contains(Project.lower(name));
  }

  // The project has no Visualforce, no flow that Apex starts and no quick action: nothing of these is known.

  @Override
  public TypeInfo getVfComponentType(SymbolResolver asking, TypeInfo from, Namespace namespace, String name) {
    return null;
  }

  @Override
  public TypeInfo getFlowInterviewType(SymbolResolver asking, TypeInfo from, Namespace namespace, String name) {
    return null;
  }

  @Override
  public String getPageReference(TypeInfo from, String name) {
    return null;
  }

  @Override
  public String getQuickAction(TypeInfo from, String object, String name) {
    return null;
  }

  @Override
  public boolean isDynamicTypeNamespace(String namespace) {
    return false;
  }

  @Override
  public boolean isDynamicTypeNamespace(String namespace, String name) {
    return false;
  }
}
