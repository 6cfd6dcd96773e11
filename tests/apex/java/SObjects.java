import apex.common.base.Initializer;
import apex.common.base.Initializers;
import apex.jorje.data.Location;
import apex.jorje.semantic.ast.modifier.ModifierGroups;
import apex.jorje.semantic.bcl.DmlOperation;
import apex.jorje.semantic.bcl.SObjectMethods;
import apex.jorje.semantic.compiler.Namespaces;
import apex.jorje.semantic.common.TestSObjectTypeInfos;
import apex.jorje.semantic.symbol.member.variable.FieldInfo;
import apex.jorje.semantic.symbol.member.variable.FieldTable;
import apex.jorje.semantic.symbol.member.variable.MultipleFieldTable;
import apex.jorje.semantic.symbol.member.variable.SObjectFieldInfo;
import apex.jorje.semantic.symbol.member.variable.SObjectFieldInfo.Category;
import apex.jorje.semantic.symbol.member.variable.StandardFieldInfo;
import apex.jorje.semantic.symbol.member.variable.VariableValidator;
import apex.jorje.semantic.symbol.type.BasicType;
import apex.jorje.semantic.symbol.type.GenericTypeInfoFactory;
import apex.jorje.semantic.symbol.type.InternalTypeInfos;
import apex.jorje.semantic.symbol.type.SObjectMetadata;
import apex.jorje.semantic.symbol.type.SObjectMetadata.CustomEntitySObjectType;
import apex.jorje.semantic.symbol.type.SObjectTypeInfo;
import apex.jorje.semantic.symbol.type.TypeInfo;
import apex.jorje.semantic.symbol.type.TypeInfos;
import apex.jorje.semantic.symbol.type.UnitType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The front end's view of every object: Salesforce's own with the project's fields, and the project's. */
final class SObjects {
  /** Fields that the platform writes itself, on every object. */
  private static final Set<String> SYSTEM =
      Set.of("createddate", "createdbyid", "lastmodifieddate", "lastmodifiedbyid", "systemmodstamp", "isdeleted");

  private static final Map<String, String> COMMON = new LinkedHashMap<>();
  private static final Map<String, String> METADATA = new LinkedHashMap<>();
  private static final Map<String, String> EVENT = new LinkedHashMap<>();

  static {
    COMMON.putAll(
        Map.of("Name", "String", "CreatedDate", "Datetime", "CreatedById", "Id", "LastModifiedDate", "Datetime",
            "LastModifiedById", "Id", "SystemModstamp", "Datetime", "IsDeleted", "Boolean", "OwnerId", "Id",
            "SetupOwnerId", "Id"));
    METADATA.putAll(
        Map.of("DeveloperName", "String", "MasterLabel", "String", "QualifiedApiName", "String", "Label", "String",
            "NamespacePrefix", "String", "Language", "String"));
    EVENT.putAll(Map.of("ReplayId", "String", "EventUuid", "String", "CreatedDate", "Datetime", "CreatedById", "Id"));
  }

  private final Project project;
  private final StandardObjects standard;
  private final Map<String, SObjectTypeInfo> types = new HashMap<>();
  private final List<String> refused = new ArrayList<>();
  private Symbols symbols;

  SObjects(Project project, StandardObjects standard) {
    this.project = project;
    this.standard = standard;
    types.put("aggregateresult", TestSObjectTypeInfos.AGGREGATE_RESULT);
  }

  /** Field tokens are types of the platform, which in turn name objects: the two know each other. */
  void resolveWith(Symbols platform) {
    symbols = platform;
  }

  /** Assignments to fields that nobody may write, as {@code path:line:column: text}. */
  List<String> refusedWrites() {
    return refused;
  }

  /** The object of that name in any case, or null. */
  SObjectTypeInfo find(String name) {
    String key = Project.lower(name).replaceFirst("^schema\\.", "");
    String spelt = standard.name(key) != null ? standard.name(key) : project.objects().get(key);
    if (types.containsKey(key) || spelt == null) {
      return types.get(key);
    }
    SObjectTypeInfo type =
        SObjectTypeInfo.builder()
            .setMetadata(described(key))
            .setApexName(spelt)
            .setBytecodeName(spelt)
            .setUnitType(UnitType.CLASS)
            .setNamespace(Namespaces.EMPTY)
            .setModifiers(ModifierGroups.GLOBAL_FINAL)
            .setParents(SObjectTypeInfo.SHARED_PARENT_TABLE)
            .setFields(Initializers.memoize((Initializer<FieldTable, TypeInfo>) self -> new Fields(self, key).table()))
            .setMethods(SObjectMethods.get())
            .setBasicType(BasicType.SOBJECT)
            .buildResolved();
    types.put(key, type);
    return type;
  }

  /** The names of all objects, as they are spelt. */
  List<String> names() {
    List<String> names = new ArrayList<>(standard.all());
    names.addAll(project.objects().values());
    return names;
  }

  private SObjectMetadata described(String key) {
    CustomEntitySObjectType kind = CustomEntitySObjectType.OTHER;
    if (key.endsWith("__mdt")) {
      kind = CustomEntitySObjectType.CUSTOM_METADATA_TYPE;
    } else if (project.hierarchies().contains(key)) {
      kind = CustomEntitySObjectType.HIERARCHY_CUSTOM_SETTING;
    }
    return SObjectMetadata.builder()
        .setSupportedDml(DmlOperation.ALL)
        .setTriggerable(true)
        .setCustomEntitySObjectType(kind)
        .setUnionParent(null)
        .setAccessibleWhenUntrustedCalculator(ignored -> true)
        .setCustomizableSetupEntity(false)
        .setEditable(true)
        .setPlatformEvent(key.endsWith("__e"))
        .build();
  }

  /** The fields of one object, gathered in the order of who declares them first. */
  private final class Fields {
    private final FieldTable table = new MultipleFieldTable();
    private final Set<String> names = new HashSet<>();
    private final TypeInfo self;
    private final String key;

    Fields(TypeInfo self, String key) {
      this.self = self;
      this.key = key;
    }

    FieldTable table() {
      token("SObjectType", symbols.platform("schema/sobjecttype", InternalTypeInfos.SCHEMA_SOBJECT_TYPE));
      String spelt = standard.name(key);
      if (spelt == null) {
        implied();
      } else {
        standard.fields(spelt).forEach(this::add);
      }
      value("Id", TypeInfos.ID, false);
      project.fields().getOrDefault(key, List.of()).forEach(this::add);
      project.children().getOrDefault(key, List.of()).forEach(rows -> children(rows.name(), rows.object()));
      return table.resolve();
    }

    private void implied() {
      Map<String, String> fields = key.endsWith("__mdt") ? METADATA : key.endsWith("__e") ? EVENT : COMMON;
      fields.forEach((name, type) -> value(name, primitive(type), SYSTEM.contains(Project.lower(name))));
      if (fields == COMMON) {
        for (String parent : List.of("Owner", "CreatedBy", "LastModifiedBy")) {
          relation(parent, find(parent.equals("Owner") ? "Name" : "User"), Category.FOREIGN_KEY);
        }
      }
    }

    private void add(StandardObjects.StandardField field) {
      switch (field.kind()) {
        case VALUE -> value(field.name(), primitive(field.type()), SYSTEM.contains(Project.lower(field.name())));
        case PARENT -> relation(field.name(), find(field.type()), Category.FOREIGN_KEY);
        case PARENTS -> relation(field.name(), find("Name"), Category.FOREIGN_KEY);
        case CHILDREN -> children(field.name(), field.type());
      }
    }

    private void children(String name, String object) {
      SObjectTypeInfo child = find(object);
      relation(name, child == null ? null : GenericTypeInfoFactory.createList(child), Category.AGGREGATE);
    }

    private void add(Project.CustomField field) {
      TypeInfo type =
          switch (field.type() == null ? "" : field.type()) {
            case "Checkbox" -> TypeInfos.BOOLEAN;
            case "Number", "Currency", "Percent", "Summary" -> TypeInfos.DECIMAL;
            case "Date" -> TypeInfos.DATE;
            case "DateTime" -> TypeInfos.DATE_TIME;
            case "Time" -> TypeInfos.TIME;
            case "Lookup", "MasterDetail", "Hierarchy" -> TypeInfos.ID;
            default -> TypeInfos.STRING;
          };
      value(field.name(), type, field.computed());
      if (field.reference() != null && type == TypeInfos.ID) {
        relation(field.name().replaceAll("__c$", "__r"), find(field.reference()), Category.FOREIGN_KEY);
      }
    }

    private void value(String name, TypeInfo type, boolean computed) {
      if (type != null && names.add(Project.lower(name))) {
        table.add(field(name, type, Category.REGULAR, computed));
        token(name, symbols.platform("schema/sobjectfield", InternalTypeInfos.SCHEMA_SOBJECT_FIELD));
      }
    }

    private void relation(String name, TypeInfo type, Category category) {
      if (type != null && names.add(Project.lower(name))) {
        table.add(field(name, type, category, false));
      }
    }

    private void token(String name, TypeInfo type) {
      table.add(
          StandardFieldInfo.builder()
              .setName(name)
              .setModifiers(ModifierGroups.GLOBAL_STATIC)
              .setDefiningType(self)
              .setType(type)
              .build());
    }

    private FieldInfo field(String name, TypeInfo type, Category category, boolean computed) {
      return SObjectFieldInfo.builder()
          .setName(name)
          .setModifiers(ModifierGroups.ONLY_GLOBAL)
          .setDefiningType(self)
          .setType(type)
          .setCategory(category)
          .setPrimaryKey(name.equalsIgnoreCase("Id"))
          .setColumnInfo(category == Category.REGULAR)
          .setValidateStoreFunction((writer, target, context) -> !computed || refuse(writer, name))
          .build();
    }

    private boolean refuse(VariableValidator writer, String name) {
      Location at = writer.getNode().getLoc();
      String file = writer.getNode().getDefiningType().getCodeUnitDetails().getSource().getKnownName();
      refused.add(file + ":" + CompileCheck.at(at) + ": Field is not writeable: " + self.getApexName() + "." + name);
      return false;
    }
  }

  private static TypeInfo primitive(String name) {
    return switch (name) {
      case "String" -> TypeInfos.STRING;
      case "Id" -> TypeInfos.ID;
      case "Boolean" -> TypeInfos.BOOLEAN;
      case "Decimal" -> TypeInfos.DECIMAL;
      case "Integer" -> TypeInfos.INTEGER;
      case "Long" -> TypeInfos.LONG;
      case "Double" -> TypeInfos.DOUBLE;
      case "Date" -> TypeInfos.DATE;
      case "Datetime" -> TypeInfos.DATE_TIME;
      case "Time" -> TypeInfos.TIME;
      case "Blob" -> TypeInfos.BLOB;
      case "Object" -> TypeInfos.OBJECT;
      default -> null;
    };
  }
}
