//! Errors and warnings of a build, in the words of the program that builds.

use std::ffi::OsStr;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::pull::kustomize::{Said, said};
use reconcile_core::text::visible;

use crate::desired::kustomization::names_beside_secrets;

/// The failure of a build.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The end of a sentence of ours.
    Ours(String),
    /// The text that the program printed.
    Theirs(String),
}

/// Tells what the program says. Of a text that may quote values of Secrets, only the sentences of kustomize and the names of the build are
/// repeated.
pub(super) struct Voice<'a> {
    pub directory: &'a OsStr,
    /// The directory as it may be shown.
    pub name: &'a str,
    /// The file of the kustomization.
    pub file: &'a str,
    /// The program and its verb.
    pub command: &'a str,
}

impl Voice<'_> {
    /// The error of a build that failed.
    pub(super) fn error(&self, failure: &Failure) -> Diagnostic {
        let Self { directory, name, command, .. } = self;
        let diagnostic = |text: &str| Diagnostic::of_file(name, format!("`{command}` {text}"));
        let text = match failure {
            Failure::Ours(text) => return diagnostic(text),
            Failure::Theirs(text) => text,
        };
        if text.contains("must specify --enable-helm") {
            // A chart of a pull request can run what it likes as a plugin of helm: nobody gets that by default.
            let hint =
                format!("for trusted charts, pipe it: `{command} --enable-helm {name} | kubectl reconcile diff -f -`");
            return diagnostic("failed: it has `helmCharts`, and these are not rendered without `--enable-helm`")
                .with_hint(hint);
        }
        let Some(names) = names_beside_secrets(directory) else { return diagnostic(&format!("failed: {text}")) };
        // The warnings before an error are about something else.
        let about = text.lines().filter(|line| !line.starts_with(WARNING)).collect::<Vec<_>>().join("\n");
        let Said { text, is_whole } = said(&about, &names);
        let hint = format!("is left out because it may quote a secret value; `{command} {name}` shows it");
        match text.as_str() {
            "" if is_whole => diagnostic("failed"),
            "" => diagnostic("failed").with_hint(format!("its message {hint}")),
            text if is_whole => diagnostic(&format!("failed: {text}")),
            text => diagnostic(&format!("failed: {text}")).with_hint(format!("the rest {hint}")),
        }
    }

    /// A warning for each line of the program.
    pub(super) fn warnings(&self, lines: &[String]) -> Vec<String> {
        let warning = |text: &str| format!("warning: {}: {text}", visible(self.file));
        let names = (!lines.is_empty()).then(|| names_beside_secrets(self.directory)).flatten();
        let lines = lines.iter().map(|line| line.strip_prefix(WARNING).unwrap_or(line));
        let Some(names) = names else { return lines.map(warning).collect() };
        let told: Vec<Said> = lines.map(|line| said(line, &names)).collect();
        let texts = told.iter().filter(|said| !said.text.is_empty()).map(|said| warning(&said.text));
        let rest = told.iter().any(|said| !said.is_whole).then(|| {
            let Self { name, command, .. } = self;
            warning(&format!(
                "a part of what `{command}` says is left out because it may quote a secret value; `{command} {name}` shows it"
            ))
        });
        texts.chain(rest).collect()
    }
}

/// The beginning of a line of kustomize that is a warning.
const WARNING: &str = "# Warning: ";

#[cfg(test)]
mod tests {
    use super::*;

    /// A build whose Secret has the value `hunter2`.
    #[test]
    fn a_message_about_a_build_with_a_secret_repeats_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("kustomization.yaml", "resources: [s.yaml, nope.yaml]\n");
        write("s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {url: hunter2}\n");
        let directory = folder.path().as_os_str();
        let voice = Voice { directory, name: "k", file: "k/kustomization.yaml", command: "kustomize build" };
        let error = |text: &str| voice.error(&Failure::Theirs(text.to_owned()));

        let quoting =
            "# Warning: 'vars' is deprecated.\nError: invalid Kustomization: yaml: unknown anchor 'hunter2' referenced";
        let said = error(quoting);
        assert_eq!(said.message, "`kustomize build` failed: Error: invalid Kustomization: yaml: unknown anchor …");
        let hint = "the rest is left out because it may quote a secret value; `kustomize build k` shows it";
        assert_eq!(said.hint.as_deref(), Some(hint));
        assert_eq!(error("hunter2").message, "`kustomize build` failed");
        let missing =
            "Error: accumulating resources: accumulating resources from 'nope.yaml': no such file or directory";
        assert_eq!(
            (error(missing).message, error(missing).hint),
            (format!("`kustomize build` failed: {missing}"), None)
        );

        let lines = ["MakePrimitiveReplacer: bad replacement val=map[url:hunter2", "hunter2]", "# Warning: hunter2"];
        let warnings = voice.warnings(&lines.map(ToOwned::to_owned));
        let file = "k/kustomization.yaml";
        let rest = "a part of what `kustomize build` says is left out because it may quote a secret value; `kustomize build k` shows it";
        let bad = format!("warning: {file}: MakePrimitiveReplacer: bad replacement …");
        assert_eq!(warnings, [bad, format!("warning: {file}: {rest}")]);

        // Without a Secret, everything is told.
        write("kustomization.yaml", "resources: [c.yaml]\n");
        write("c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
        assert_eq!(voice.warnings(&["# Warning: any text".to_owned()]), [format!("warning: {file}: any text")]);
        assert_eq!(error("any\ntext").message, "`kustomize build` failed: any\ntext");
    }
}
