import apex.jorje.semantic.compiler.ApexCompiler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;

/**
 * The platform's classes as the front end's jar describes them, with what these descriptions lack put back.
 *
 * <p>The jar's stubs are incomplete: exceptions extend nothing, {@code Database} has no DML, some enums hold words that
 * its own parser refuses. What is added follows the Apex Reference Guide.
 */
final class StandardLibrary {
  /** One class of the platform, as Apex text without bodies. */
  record Stub(String namespace, String name, String source) {}

  private static final String FOLDER = "StandardApexLibrary/";
  private static final Pattern VERB =
      Pattern.compile("(?i)\\b(Database\\s*\\.\\s*(?:insert|update|upsert|delete|undelete))\\s*\\(");
  private static final String EXCEPTION_BODY =
      "global String getMessage(){} global void setMessage(String m){} global Integer getLineNumber(){}"
          + " global String getTypeName(){} global String getStackTraceString(){} global Exception getCause(){}"
          + " global void initCause(Exception e){} }";

  private static final List<Stub> MISSING =
      List.of(
          new Stub("System", "Savepoint", "global class Savepoint {}"),
          new Stub("System", "ApplicationReadWriteMode", "global enum ApplicationReadWriteMode {DEFAULTMODE, READ_ONLY}"),
          new Stub("System", "InstallHandler", "global interface InstallHandler { void onInstall(InstallContext c); }"),
          new Stub("System", "InstallContext", "global interface InstallContext { Id organizationId(); }"),
          new Stub("System", "UninstallHandler", "global interface UninstallHandler { }"),
          new Stub("System", "XmlTag", "global enum XmlTag {START_ELEMENT}"),
          new Stub("System", "SandboxContext", "global interface SandboxContext {}"),
          new Stub("Database", "Stateful", "global interface Stateful {}"),
          new Stub("Database", "AllowsCallouts", "global interface AllowsCallouts {}"),
          new Stub("System", "AuraHandledException",
              "global virtual class AuraHandledException extends Exception { " + EXCEPTION_BODY),
          new Stub("Messaging", "Email", "global abstract class Email { global void setSubject(String s) {} }"),
          new Stub("Schema", "SObjectTypeFields",
              "global class SObjectTypeFields { global Map<String, Schema.SObjectField> getMap() {} }"),
          new Stub("Schema", "FilteredLookupInfo", "global class FilteredLookupInfo {}"));

  private StandardLibrary() {}

  /** All stubs by lower-case {@code namespace.name}. {@code statusCodes}: an enum that the jar knows by name alone. */
  static Map<String, Stub> read(List<String> statusCodes) throws Exception {
    Map<String, Stub> stubs = new HashMap<>();
    add(stubs, new Stub("System", "StatusCode", "global enum StatusCode {" + String.join(", ", statusCodes) + "}"));
    Path path = Path.of(ApexCompiler.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (JarFile jar = new JarFile(path.toFile())) {
      for (JarEntry entry : Collections.list(jar.entries())) {
        String name = entry.getName();
        String[] parts = name.startsWith(FOLDER) ? name.substring(FOLDER.length()).split("/") : new String[0];
        if (parts.length == 2 && name.endsWith(".cls")) {
          String text = new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
          add(stubs, new Stub(parts[0], parts[1].substring(0, parts[1].length() - ".cls".length()), text));
        }
      }
    }
    MISSING.forEach(stub -> stubs.putIfAbsent(key(stub), stub));
    stubs.remove("system.label"); // the front end resolves labels itself, and asks for each by name
    return stubs;
  }

  /** The text of a class with {@code Database.insert(} and its like under names that a stub can declare. */
  static String withCallableVerbs(String apex) {
    return VERB.matcher(apex).replaceAll("$1X(");
  }

  private static void add(Map<String, Stub> stubs, Stub stub) {
    stubs.put(key(stub), new Stub(stub.namespace(), stub.name(), repaired(key(stub), stub.source())));
  }

  private static String key(Stub stub) {
    return (stub.namespace() + "." + stub.name()).toLowerCase(Locale.ROOT);
  }

  private static String repaired(String key, String source) {
    boolean exception = key.endsWith("exception");
    String text = common(exception ? derived(source) : source);
    return switch (key) {
      case "database.batchable" ->
          "global interface Batchable<T> { void execute(Database.BatchableContext c, List<T> l);"
              + " void finish(Database.BatchableContext c); }";
      case "system.triggeroperation" ->
          "global enum TriggerOperation { BEFORE_INSERT, BEFORE_UPDATE, BEFORE_DELETE,"
              + " AFTER_INSERT, AFTER_UPDATE, AFTER_DELETE, AFTER_UNDELETE }";
      case "system.accesslevel" -> text.replaceAll("global Object (\\w+_MODE);", "global static System.AccessLevel $1;");
      case "system.restcontext" -> text.replace("global RestRe", "global static RestRe");
      case "system.database" -> extended(text, verbs());
      case "database.dmloptions" -> extended(text, "global DuplicateRuleHeader duplicateRuleHeader;");
      case "messaging.singleemailmessage", "messaging.massemailmessage" ->
          text.replaceFirst("global class (\\w+) \\{", "global class $1 extends Messaging.Email {");
      case "system.messaging" ->
          text.replaceAll("global (void|Messaging\\.SendEmailResult\\[\\]) (reserve|send)", "global static $1 $2")
              .replace("Messaging.Email[] emails", "List<Messaging.Email> emails");
      case "messaging.customnotification" -> extended(text, "global CustomNotification() {}");
      case "schema.sobjectdescribeoptions" -> text.replace("DEFAULT,", "");
      case "schema.displaytype" ->
          text.replaceAll(
                  "(?m)^\\s*(BOOLEAN|CURRENCY|DATE|DATETIME|TIME|DOUBLE|INTEGER|LONG|STRING|ID|ANYTYPE|SOBJECT|OBJECT),",
                  "  $1_X,")
              .replaceAll("(?m)^\\s*TIME\\s*$", " TIME_X");
      case "database.saveresult", "database.deleteresult", "database.undeleteresult", "database.mergeresult" ->
          extended(text, "global Boolean success; global Id id; global List<Database.Error> errors;");
      case "database.upsertresult" ->
          extended(text, "global Boolean success; global Id id; global List<Database.Error> errors; global Boolean created;");
      default -> exception ? extended(text, EXCEPTION_BODY.substring(0, EXCEPTION_BODY.length() - 1)) : text;
    };
  }

  private static String derived(String source) {
    return source.replaceFirst("(?i)global (virtual )?class (\\w+) \\{", "global virtual class $2 extends Exception {");
  }

  private static String extended(String source, String members) {
    return source.substring(0, source.lastIndexOf('}')) + " " + members + " }";
  }

  /** What no stub may hold, because the front end does not know the type or refuses the declaration. */
  private static String common(String source) {
    return source
        .replaceAll("global Object clone\\(\\) \\{\\}", "")
        .replace("global String toString()", "global override String toString()")
        .replace("Map bindMap", "Map<String, Object> bindMap")
        .replace("LocaleOptions localeOptions", "String localeOptions")
        .replace("Database.NestedSaveResult", "Object")
        .replace("Database.Errors", "Database.Error")
        .replace("Component.apex.page", "Object")
        .replace("QuickAction.QuickActionTemplateResult", "Object")
        .replace("Schema.SObjectTypeFieldSets", "Object")
        .replace("BOOLEAN,", "")
        .replace("(Iterable ", "(Iterable<Object> ")
        .replaceAll("\\bIterable ", "Iterable<SObject> ");
  }

  /** Every overload of {@code Database}'s DML, named {@code insertX} and so on: a declared method may bear no keyword. */
  private static String verbs() {
    StringBuilder text = new StringBuilder();
    for (String verb : List.of("insert", "update", "upsert", "delete", "undelete")) {
      String result = switch (verb) {
        case "delete" -> "Database.DeleteResult";
        case "undelete" -> "Database.UndeleteResult";
        case "upsert" -> "Database.UpsertResult";
        default -> "Database.SaveResult";
      };
      for (String rest : options(verb)) {
        overload(text, verb, result, "SObject", rest);
        if (verb.endsWith("delete")) {
          overload(text, verb, result, "Id", rest);
        }
      }
    }
    return text.toString();
  }

  private static List<String> options(String verb) {
    String level = ", System.AccessLevel l";
    return switch (verb) {
      case "insert", "update" ->
          List.of("", ", Boolean b", ", Boolean b" + level, level, ", Database.DMLOptions o",
              ", Database.DMLOptions o" + level);
      case "upsert" ->
          List.of("", ", Boolean b", ", Boolean b" + level, level, ", Schema.SObjectField f",
              ", Schema.SObjectField f, Boolean b", ", Schema.SObjectField f, Boolean b" + level);
      default -> List.of("", ", Boolean b", ", Boolean b" + level, level);
    };
  }

  private static void overload(StringBuilder text, String verb, String result, String of, String rest) {
    String start = " " + verb + "X(";
    text.append("global static ").append(result).append(start).append(of).append(" r").append(rest).append(") {}\n");
    text.append("global static List<").append(result).append(">").append(start);
    text.append("List<").append(of).append("> r").append(rest).append(") {}\n");
  }
}
