import java.nio.file.Path;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.lang.LanguageRegistry;
import net.sourceforge.pmd.reporting.Report;
import net.sourceforge.pmd.reporting.RuleViolation;

/**
 * Runs PMD's rules over a project. Arguments: the rule set's file, then the project's folder.
 *
 * <p>Each finding is one line {@code path:line:column: rule: text}; a file that PMD cannot read is one too. Exit code 0:
 * none; 4: some.
 */
public final class LintCheck {
  private LintCheck() {}

  public static void main(String[] words) {
    PMDConfiguration settings = new PMDConfiguration(LanguageRegistry.PMD);
    settings.addRuleSet(words[0]);
    settings.addInputPath(Path.of(words[1]));
    settings.setIgnoreIncrementalAnalysis(true);
    try (PmdAnalysis analysis = PmdAnalysis.create(settings)) {
      Report report = analysis.performAnalysisAndCollectReport();
      for (RuleViolation found : report.getViolations()) {
        String place = found.getFileId().getAbsolutePath() + ":" + found.getBeginLine() + ":" + found.getBeginColumn();
        System.out.println(place + ": " + found.getRule().getName() + ": " + found.getDescription());
      }
      for (Report.ProcessingError error : report.getProcessingErrors()) {
        System.out.println(error.getFileId().getAbsolutePath() + ":0:0: " + error.getMsg().replace('\n', ' '));
      }
      boolean clean = report.getViolations().isEmpty() && report.getProcessingErrors().isEmpty();
      System.exit(clean && report.getConfigurationErrors().isEmpty() ? 0 : 4);
    }
  }
}
