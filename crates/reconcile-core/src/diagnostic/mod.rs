//! Diagnostics: the one type for everything that goes wrong, from a YAML error to a refusal of the server.
//!
//! ```text
//! desired: a mistake in a file ─────────────┐
//! client: kubeconfig, flags, credentials ───┤
//! live: RequestError, StatusError ─about───▶ Diagnostic{severity, code, message, hint, location, excerpt, details} ─▶ report
//! compare, plan, engine: what they decide ──┘
//! ```
//! It is below all stages: each adds the constructors that need its own types.

mod excerpt;

use std::fmt;
use std::sync::Arc;

use kube_yaml::{Mark, SyntaxDiagnostic};

use crate::text::visible;

pub use excerpt::{Excerpt, Line, Underline};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something was not done because of it.
    Error,
    /// The run goes on.
    Warning,
}

/// The word before the message.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// An error or a warning about the input, an object or the run, with its location if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind: the `reason` in the JSON.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// Advice on what to do.
    pub hint: Option<String>,
    /// The location, if it is about a file.
    pub location: Option<Location>,
    /// The lines of the location, if they may be shown.
    pub excerpt: Option<Box<Excerpt>>,
    /// The single mistakes that it consists of, each with its location in the manifest.
    pub details: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Makes an error without a location.
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: code.into(),
            message: message.into(),
            hint: None,
            location: None,
            excerpt: None,
            details: Vec::new(),
        }
    }

    /// Makes an error about the input, the command line or the configuration, without a location.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// Makes an error about a whole file.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { location: Some(Location { file: file.into(), line: None, column: None }), ..Self::general(message) }
    }

    /// Makes an error at a line of a file.
    pub fn at_line(file: &Arc<str>, line: u32, message: impl Into<String>) -> Self {
        Self {
            location: Some(Location { file: file.clone(), line: Some(line), column: None }),
            ..Self::general(message)
        }
    }

    /// Makes an error at a line and a column of a file.
    pub fn at(file: &Arc<str>, mark: Mark, message: impl Into<String>) -> Self {
        let location = Location { file: file.clone(), line: Some(mark.line), column: Some(mark.column) };
        Self { location: Some(location), ..Self::general(message) }
    }

    /// Makes an error from a complaint of the YAML reader.
    pub fn of_syntax(file: &Arc<str>, syntax: &SyntaxDiagnostic) -> Self {
        Self { hint: syntax.hint.clone(), ..Self::at(file, syntax.mark, &syntax.message) }
    }

    /// Sets the advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the single mistakes that it consists of.
    pub fn with_details(self, details: Vec<Self>) -> Self {
        Self { details, ..self }
    }

    /// Makes it a warning.
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// The key or the scalar at its location, as it is written, if it may be shown.
    pub fn written(&self) -> Option<String> {
        self.excerpt.as_ref().and_then(|excerpt| excerpt.marked())
    }
}

/// `web.yaml:12:5: message`
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// A location in a file: the whole file, a line, or a column of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file as it was named, `stdin` for standard input.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
}

impl Location {
    /// The line and the column, if it has both.
    pub fn mark(&self) -> Option<Mark> {
        Some(Mark { line: self.line?, column: self.column? })
    }
}

/// Returns true for the name of a kustomization. It stands for the manifests that are built from it, whose lines are in no file.
pub fn is_kustomization(file: &str) -> bool {
    file.rsplit(['/', std::path::MAIN_SEPARATOR]).next().is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// The names that kustomize looks for in a directory (kustomize `api/konfig`, `RecognizedKustomizationFileNames`).
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// `web.yaml:12:5`, on one line whatever the file is called; `k/kustomization.yaml` for everything that is built from it
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file))?;
        if is_kustomization(&self.file) {
            return Ok(());
        }
        [self.line, self.column].into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// Declares the codes, each with its name as text and its meaning.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident),+ $(,)?) => {
        /// The kind of a diagnostic, in the API's style.
        ///
        /// A refusal keeps the reason that the API server gives it (apimachinery `metav1.StatusReason`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $meaning])+ $name),+
        }

        impl Code {
            /// All of them, in the order of their names.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name, as the JSON has it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }

            /// The meaning, in a sentence or two.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($meaning),+).trim_ascii()),+
                }
            }
        }
    };
}

codes! {
    /// Somebody else created the object first (409).
    AlreadyExists,
    /// A proxy or load balancer in front of the API server got no usable answer from it (502).
    BadGateway,
    /// The server does not understand the request, or a webhook or policy rejects it (400).
    BadRequest,
    /// The object or the apply set was changed or is in use by somebody else: run again.
    Conflict,
    /// The connection failed before the answer was complete.
    ConnectionLost,
    /// The manifest is encrypted, and was not decrypted, so that it can be neither compared nor written.
    Encrypted,
    /// The continue token or resource version of the request is too old for the server (410).
    Expired,
    /// The request failed for another reason, which is in the message.
    Failed,
    /// The user may not do this, or an admission rule such as a quota forbids it (403).
    Forbidden,
    /// The object is no longer available on the server (410).
    Gone,
    /// The server failed, or a webhook that it calls (500).
    InternalError,
    /// The run was interrupted, or its time limit was reached, before this was done.
    Interrupted,
    /// The manifest, the command line or the configuration is wrong, or the server rejects the object as invalid (422).
    Invalid,
    /// The server does not support this verb for the resource (405), or objects of the kind can only be created.
    MethodNotAllowed,
    /// The CustomResourceDefinition was created, but its names are taken by another one.
    NamesNotAccepted,
    /// The server cannot answer in the requested format (406).
    NotAcceptable,
    /// The object, its resource or its namespace does not exist (404).
    NotFound,
    /// The snapshot has the object in another version than the manifest.
    OtherVersion,
    /// The object would have to be deleted and recreated, and is protected against that.
    Protected,
    /// The object is larger than the server accepts (413).
    RequestEntityTooLarge,
    /// The server gave up before the request was complete; it can be repeated (500).
    ServerTimeout,
    /// The server, or the API service of the kind, does not answer at present (503).
    ServiceUnavailable,
    /// The server could not read the object from its storage (500).
    StorageReadError,
    /// The object or its namespace is being deleted.
    Terminating,
    /// The request, or the change that it starts, was not complete in time (504).
    Timeout,
    /// The server is overloaded, or a `PodDisruptionBudget` does not allow the request at present (429).
    TooManyRequests,
    /// The server does not accept the credentials (401), or a credential plugin returned none.
    Unauthorized,
    /// The server rejects the request with a reason and a status code that Kubernetes does not define.
    Unknown,
    /// The server does not have this kind, or not in this version.
    UnknownKind,
    /// The owners of the object's fields cannot be read from its `managedFields`.
    UnreadableOwners,
    /// The server does not accept the format of the request (415).
    UnsupportedMediaType,
    /// The values of the Secret, or of a Secret inside of the object, are not in the snapshot, so they cannot be compared.
    ValuesWithheld,
}

impl Code {
    /// The code with this name, else [`Code::Unknown`].
    pub fn named(name: &str) -> Self {
        Self::ALL.iter().copied().find(|code| code.as_str() == name).unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::Code;

    #[test]
    fn a_location_is_one_visible_line() {
        let mark = kube_yaml::Mark { line: 1, column: 4 };
        let diagnostic = super::Diagnostic::at(&"fn/a\nb\u{1b}.yaml".into(), mark, "is wrong");
        assert_eq!(diagnostic.to_string(), "fn/a\\nb\\u{1b}.yaml:1:4: is wrong");
        assert_eq!(diagnostic.location.unwrap().file.as_ref(), "fn/a\nb\u{1b}.yaml");
    }

    #[test]
    fn names_lead_back_to_their_codes_and_are_sorted() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.as_str()), *code);
        }
        assert!(Code::ALL.is_sorted_by_key(|code| code.as_str()));
        assert_eq!(Code::named("hunter2"), Code::Unknown);
    }

    #[test]
    fn the_documentation_lists_every_code() {
        let mut table = String::from("| `reason` | meaning |\n| --- | --- |\n");
        for code in Code::ALL {
            let _ = writeln!(table, "| `{code}` | {} |", code.meaning());
        }
        let document = include_str!("../../../../docs/json.md");
        let start = document.find("| `reason` | meaning |").unwrap_or(document.len());
        let documented = document[start..].split("\n\n").next().unwrap_or_default();
        assert_eq!(documented.trim_end(), table.trim_end(), "docs/json.md has to list:\n{table}");
    }
}
