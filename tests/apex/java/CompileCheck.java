import apex.jorje.data.Location;
import apex.jorje.semantic.compiler.ApexCompiler;
import apex.jorje.semantic.compiler.CodeUnit;
import apex.jorje.semantic.compiler.CompilationInput;
import apex.jorje.semantic.compiler.CompilerStage;
import apex.jorje.semantic.compiler.Namespaces;
import apex.jorje.semantic.compiler.sfdc.NoopCompilerProgressCallback;
import apex.jorje.semantic.compiler.SourceFile;
import apex.jorje.semantic.common.TestAccessEvaluator;
import apex.jorje.semantic.common.TestQueryValidators;
import apex.jorje.semantic.symbol.type.SObjectTypeInfo;
import apex.jorje.semantic.symbol.type.TypeInfo;
import apex.jorje.services.exception.CompilationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.logging.LogManager;

/**
 * Compiles the Apex of a project with Salesforce's own front end up to validation, and emits nothing.
 *
 * <p>Arguments: the project's folder, and the folder of the jars that describe standard objects. Each error is one line
 * {@code path:line:column: text} on standard output. Exit code 0: none; 4: some; anything else: the check itself failed.
 */
public final class CompileCheck {
  private CompileCheck() {}

  public static void main(String[] words) throws Exception {
    LogManager.getLogManager().reset(); // the front end logs each symbol it looks for
    Project project = Project.read(Path.of(words[0]));
    StandardObjects standard = StandardObjects.read(Path.of(words[1]));
    SObjects objects = new SObjects(project, standard);
    Symbols symbols = new Symbols(StandardLibrary.read(standard.statusCodes()), objects, project.labels());
    objects.resolveWith(symbols);

    Map<SourceFile, Path> paths = new HashMap<>();
    for (Path path : project.apex()) {
      paths.put(source(path), path);
    }
    ApexCompiler compiler = ApexCompiler.builder().setInput(input(new ArrayList<>(paths.keySet()), symbols)).build();
    compiler.compile(CompilerStage.VALIDATE);

    TreeSet<String> lines = new TreeSet<>(objects.refusedWrites());
    for (CodeUnit unit : compiler.getCodeUnits()) {
      Path path = paths.get(unit.getSourceFile());
      if (path != null) { // else a stub of the platform, whose own faults are not the project's
        for (Object error : unit.getErrors().get()) {
          lines.add(path + ":" + at(((CompilationException) error).getLoc()) + ": " + ((CompilationException) error).getError());
        }
      }
    }
    lines.forEach(System.out::println);
    System.exit(lines.isEmpty() ? 0 : 4);
  }

  /** {@code line:column}; 0:0 where the front end names no place. */
  static String at(Object location) {
    return location instanceof Location where ? where.getLine() + ":" + where.getColumn() : "0:0";
  }

  private static SourceFile source(Path path) throws Exception {
    String body = StandardLibrary.withCallableVerbs(Files.readString(path));
    return SourceFile.builder().setBody(body).setNamespace(Namespaces.EMPTY).setKnownName(path.toString()).build();
  }

  private static CompilationInput input(List<SourceFile> files, Symbols symbols) {
    TestAccessEvaluator access = new TestAccessEvaluator() {
      @Override
      public boolean isSetupEntityVisibleToType(SObjectTypeInfo object, TypeInfo from) {
        return true;
      }

      @Override
      public boolean doesStaticResourceExist(String name) {
        return true;
      }
    };
    TestQueryValidators.Noop queries = new TestQueryValidators.Noop(); // another step checks them against the schema
    return new CompilationInput(files, symbols, access, queries, null, NoopCompilerProgressCallback.get());
  }
}
