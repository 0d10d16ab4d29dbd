//! The configuration of a command: loaded before anything else, as it may set flags. If it cannot be used, the command fails
//! like for any other mistake of the input.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Parser;
use jiff::Timestamp;
use reconcile_core::compare::Action;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::rules::{IgnoreRules, ReadinessRules, RuleRef};
use reconcile_report::{Command as ReportedCommand, ConfigurationInfo, Failure, ObjectReport, Report, Role};

use crate::cli::{Addition, InputArgs, Typed};
use crate::config::{ConfigOrigin, Configuration, FlagDefault, typed_inputs};
use crate::output::Output;

/// The configuration of a command, or the error for which it cannot be used.
pub(crate) type Configured = Result<Configuration, Failure>;

/// Loads the configuration of the command, and adds the flags that it sets to those that were typed.
pub(crate) fn configured<C: Parser>(typed: Typed<C>, input: fn(&C) -> Option<&InputArgs>) -> (C, Configured) {
    let Some(input) = input(&typed.cli) else { return (typed.cli, Ok(Configuration::default())) };
    match load::<C>(input) {
        Ok(configuration) => with_defaults(typed, configuration),
        Err(failure) => (typed.cli, Err(failure)),
    }
}

fn load<C: Parser>(input: &InputArgs) -> Configured {
    Configuration::load(&C::command(), &input.config, &typed_inputs(&input.filename, input.kustomize.as_ref()))
}

fn with_defaults<C: Parser>(typed: Typed<C>, configuration: Configuration) -> (C, Configured) {
    let switched_on = |default: &&FlagDefault| !default.arguments.is_empty();
    let defaults: Vec<&FlagDefault> = configuration.defaults.iter().filter(switched_on).collect();
    let additions: Vec<Addition<'_>> =
        defaults.iter().map(|default| Addition { flag: &default.flag, arguments: &default.arguments }).collect();
    let (cli, refused) = typed.with(&additions);
    let Some(default) = refused.and_then(|refused| defaults.get(refused)) else { return (cli, Ok(configuration)) };
    let message = format!("`defaults`: `--{}` does not fit this command line", default.flag);
    let diagnostic = Diagnostic { location: Some(default.location.clone()), ..Diagnostic::general(message) };
    (cli, Err(Failure::invalid(diagnostic.with_hint("type the flag only where it fits"))))
}

/// The configuration of a run, with the rules that are in force today.
pub(crate) struct Settings {
    /// The configuration.
    pub configuration: Configuration,
    /// Its ignore rules that are in force today.
    pub ignore: Arc<IgnoreRules>,
    /// Its readiness rules.
    pub readiness: Arc<ReadinessRules>,
    /// Warnings about it.
    warnings: Vec<String>,
}

impl Settings {
    /// Takes the rules that are in force. Prints which file is used, where it is unexpected or details are wanted.
    pub fn of(mut configuration: Configuration, output: &Output) -> Self {
        if let Some(source) = &configuration.source {
            let is_unexpected = source.origin == ConfigOrigin::WorkingDirectory && source.is_for_streams;
            if is_unexpected || output.view.verbosity > 0 {
                let path = std::path::absolute(&*source.file).unwrap_or_else(|_| (&*source.file).into());
                output.terminal.note(Role::Note, &format!("using the configuration {}", path.display()));
            }
        }
        let (ignore, expired) = IgnoreRules::in_force(std::mem::take(&mut configuration.ignore), Timestamp::now());
        let mut warnings = std::mem::take(&mut configuration.warnings);
        warnings.extend(expired.iter().map(|warning| match &warning.hint {
            Some(hint) => format!("{warning}: {hint}"),
            None => warning.to_string(),
        }));
        let readiness = std::mem::take(&mut configuration.readiness).into();
        Self { configuration, ignore: Arc::new(ignore), readiness: Arc::new(readiness), warnings }
    }

    /// Warnings about it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A report that names the configuration, with the warnings about it. Rules that match nothing are a warning only for the whole
    /// input.
    pub fn described_in(&self, report: Report, is_whole_input: bool) -> Report {
        let is_whole_input = is_whole_input && report.shard.is_none();
        let mut report = self.named_in(report);
        let warnings = self.warnings.iter().cloned().chain(self.unmatched([&report]).filter(|_| is_whole_input));
        report.warnings.splice(..0, warnings.collect::<Vec<_>>());
        report
    }

    /// A warning about rules that match no field of any object, if there are any. `None` if no object was compared, or one could
    /// not be: the rule may match its fields.
    pub fn unmatched<'r>(&self, reports: impl IntoIterator<Item = &'r Report>) -> Option<String> {
        self.unmatched_places(reports).as_deref().and_then(ConfigurationInfo::unmatched_warning)
    }

    fn unmatched_places<'r>(&self, reports: impl IntoIterator<Item = &'r Report>) -> Option<Vec<String>> {
        let mut matched: BTreeSet<RuleRef> = BTreeSet::new();
        for report in reports {
            let is_unknown = |object: &ObjectReport| object.diff.action == Action::Unknown;
            let is_compared =
                matches!(report.command, ReportedCommand::Diff | ReportedCommand::Apply | ReportedCommand::Own);
            let is_empty = report.objects.is_empty() && report.shard.is_none() || report.summary.unchanged.is_some();
            if !is_compared || is_empty || report.objects.iter().any(is_unknown) {
                return None;
            }
            matched.extend(report.objects.iter().flat_map(|object| &object.details.rules));
        }
        let rules = self.ignore.rules.iter().enumerate();
        let unmatched = rules.filter(|(index, _)| !matched.contains(&RuleRef::Configured(*index)));
        Some(unmatched.map(|(_, rule)| rule.location.to_string()).collect())
    }

    /// A report that names the configuration.
    pub fn named_in(&self, mut report: Report) -> Report {
        let file = self.configuration.source.as_ref().map(|source| source.file.to_string());
        let annotated = report.objects.iter().filter(|object| object.details.is_annotated).count();
        if file.is_some() || annotated > 0 {
            // For a shard, it counts only together with the other shards.
            let unmatched = report.shard.and_then(|_| self.unmatched_places([&report]));
            let rules = self.ignore.rules.len();
            let readiness_rules = self.readiness.rules.len();
            report.configuration = Some(ConfigurationInfo { file, rules, readiness_rules, annotated, unmatched });
        }
        report
    }
}
