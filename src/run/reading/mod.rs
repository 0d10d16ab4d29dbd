//! Reads the input while other work goes on, and on several processors: the chunks are independent, and only the order of their
//! results counts.

pub(crate) mod captured;
pub(crate) mod named;
pub(crate) mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{Either, select};
use reconcile_report::Role;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::cli::{HooksChoice, InputArgs, ValidateLevel};
use crate::client::{Bounds, Environment, download};
use crate::desired::files::Inputs;
use crate::desired::sops::decrypted;
use crate::live::discovery::Server;
use crate::live::early::Early;
use crate::terminal::Terminal;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{Chunk, DesiredSet, Hooks, ReadChunk, ReadOptions, alias_budget, gather};
use reconcile_core::manifest::{Input, Record, Releases};
use reconcile_core::object::Selector;
use reconcile_report::Failure;
use stored::{Stored, StoredText, excluded, stored};

/// The amount of text for which a thread is worth starting, in bytes.
const TEXT_OF_A_THREAD: usize = 128 << 10;
/// The amount of text that takes a round trip to read, in bytes.
const LONG: usize = 64 << 10;
/// The part of a text in which its kinds are counted, in bytes.
const BEGINNING: usize = 1 << 20;

/// An input that was loaded and is being parsed.
pub(crate) struct Reading {
    desired: JoinHandle<Result<DesiredSet, Vec<Diagnostic>>>,
    /// About the number of kinds in the input, if it takes a while to read.
    pub kinds: usize,
    /// The record of the cluster that it is taken from, and the lines that cannot be read.
    record: Option<(Record, BTreeMap<u32, String>)>,
    /// The release of that record, if it is one.
    releases: Option<Releases>,
    /// The kinds that could not be listed, each with the reason.
    unlisted: Vec<Diagnostic>,
    remarks: Vec<String>,
    respects_annotations: bool,
    terminal: Terminal,
}

impl Reading {
    /// Loads files, URLs, standard input and kustomizations, and begins to parse them.
    pub async fn begin(args: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        excluded(args)?;
        let options = options(args)?;
        Self::of_all(inputs(args, terminal).await, args, options, terminal).await
    }

    /// Begins to parse the manifests of a base: all of them, whatever the selector chooses of the input.
    pub async fn base(paths: &[OsString], args: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        let options = ReadOptions { selector: Selector::default(), ..options(args)? };
        let mut inputs = Inputs::new(args.allow_empty);
        read_paths(&mut inputs, paths, args.recursive).await;
        Self::of_all(inputs, args, options, terminal).await
    }

    /// Begins to parse the manifests of a base that were read. A revision may have none.
    pub fn revision(inputs: Vec<Input>, args: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        let options = ReadOptions { selector: Selector::default(), allow_empty: true, ..options(args)? };
        Ok(Self::of(inputs, args, options, terminal))
    }

    /// Begins to parse what the cluster keeps, and names the releases that it comes from.
    pub async fn stored(
        args: &InputArgs,
        server: &Server,
        restores: bool,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let options = options(args)?;
        let Some(source) = &args.from else { return Ok(Self::of(Vec::new(), args, options, terminal)) };
        let name = |releases: &Releases| {
            for line in releases.lines() {
                terminal.note(Role::Note, &line);
            }
        };
        match stored(source, args, server, restores).await? {
            Stored::Text(StoredText { inputs, record, releases, unreadable, unlisted, remarks }) => {
                releases.iter().for_each(name);
                let reading = Self::of(inputs, args, options, terminal);
                Ok(Self { record: Some((record, unreadable)), releases, unlisted, remarks, ..reading })
            }
            Stored::Releases { texts, mut releases, unreadable } => {
                for one in texts.iter().filter_map(|text| text.releases.as_ref()) {
                    releases.found.extend(one.found.iter().cloned());
                    releases.methods.extend(one.methods.clone());
                }
                name(&releases);
                let options = ReadOptions { allow_empty: true, ..options };
                let allow_empty = args.allow_empty || args.selector.is_none();
                let read = spawn_blocking(move || all_releases(texts, releases, unreadable, &options, allow_empty));
                Ok(Self::under_way(read, 0, args, terminal))
            }
        }
    }

    /// Begins to parse inputs. If one of them could not be read, the errors are those, and then all mistakes of the others.
    async fn of_all(
        inputs: Inputs,
        args: &InputArgs,
        options: ReadOptions,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let (read, mut diagnostics) = inputs.into_parts();
        if diagnostics.is_empty() {
            return Ok(Self::of(read, args, options, terminal));
        }
        let reading = Self::of(read, args, ReadOptions { allow_empty: true, ..options }, terminal);
        match reading.desired.await {
            Ok(desired) => diagnostics.extend(desired.err().unwrap_or_default()),
            Err(panic) => resume_unwind(panic.into_panic()),
        }
        Err(diagnostics.into())
    }

    fn of(inputs: Vec<Input>, args: &InputArgs, options: ReadOptions, terminal: &Terminal) -> Self {
        let kinds = kinds(&inputs);
        let decrypts = args.decrypt.is_some();
        let desired = spawn_blocking(move || {
            let inputs = if decrypts { decrypted(inputs)? } else { inputs };
            gather(read_chunks(&inputs, options.validation), &options)
        });
        Self::under_way(desired, kinds, args, terminal)
    }

    fn under_way(
        desired: JoinHandle<Result<DesiredSet, Vec<Diagnostic>>>,
        kinds: usize,
        args: &InputArgs,
        terminal: &Terminal,
    ) -> Self {
        Self {
            desired,
            kinds,
            record: None,
            releases: None,
            unlisted: Vec::new(),
            remarks: Vec::new(),
            respects_annotations: args.respects_annotations(),
            terminal: terminal.clone(),
        }
    }

    /// The manifests; prints the warnings about them.
    pub async fn desired(self) -> Result<DesiredSet, Failure> {
        let desired = match self.desired.await {
            Ok(desired) => desired?,
            Err(panic) => resume_unwind(panic.into_panic()),
        };
        for warning in &desired.warnings {
            self.terminal.note(Role::Note, &format!("{}: {warning}", warning.severity));
        }
        let desired = match self.record {
            Some((record, unreadable)) => desired.of_record(record, &unreadable),
            None => desired,
        };
        let releases = self.releases.or(desired.releases);
        let remarks = [desired.remarks, self.remarks].concat();
        let unreadable = [desired.unreadable, self.unlisted].concat();
        let desired = DesiredSet { remarks, releases, unreadable, ..desired };
        Ok(if self.respects_annotations { desired } else { desired.without_ignored_fields() })
    }
}

/// The manifests of a context that is about to be connected.
pub(crate) enum Manifests {
    /// They are being read.
    Reading(Reading),
    /// They were read before.
    Read(DesiredSet),
    /// They are known once it is connected: its cluster keeps them, or knows the types of the objects that the command line names.
    OfCluster,
}

/// The manifests, and the connection that is made at the same time. An error in the input ends both, and is the one that is reported.
/// The `early` reads begin as soon as the manifests are known.
pub(crate) async fn while_connecting<T>(
    reading: impl Future<Output = Result<DesiredSet, Failure>>,
    early: &Early<'_>,
    connecting: impl Future<Output = Result<T, Failure>>,
) -> Result<(T, DesiredSet), Failure> {
    let desired = async {
        let desired = reading.await?;
        early.begin(&desired).await;
        Ok::<_, Failure>(desired)
    };
    match select(pin!(desired), pin!(connecting)).await {
        Either::Left((desired, connecting)) => {
            let desired = desired?;
            Ok((connecting.await?, desired))
        }
        Either::Right((connected, desired)) => {
            let desired = desired.await?;
            Ok((connected?, desired))
        }
    }
}

fn options(args: &InputArgs) -> Result<ReadOptions, Failure> {
    let selector = args.selector.as_deref().map(Selector::parse).transpose().map_err(|error| {
        let hint = "selectors look like `app=web`, `tier in (a, b)`, `!legacy`";
        Failure::invalid(Diagnostic::general(error).with_hint(hint))
    })?;
    let validation = match args.validate {
        ValidateLevel::Strict => Validation::Strict,
        ValidateLevel::Warn => Validation::Warn,
        ValidateLevel::Ignore => Validation::Ignore,
    };
    let hooks = match args.hooks {
        HooksChoice::Skip => Hooks::Skip,
        HooksChoice::Include => Hooks::Include,
    };
    Ok(ReadOptions { validation, selector: selector.unwrap_or_default(), hooks, allow_empty: args.allow_empty })
}

/// Reads files, standard input, URLs and what a kustomization makes.
async fn inputs(args: &InputArgs, terminal: &Terminal) -> Inputs {
    let mut inputs = Inputs::new(args.allow_empty);
    read_paths(&mut inputs, &args.filename, args.recursive).await;
    if let Some(directory) = &args.kustomize {
        for warning in inputs.kustomization(directory) {
            terminal.note(Role::Note, &warning);
        }
    }
    inputs
}

/// Reads files, directories, patterns, URLs and standard input.
async fn read_paths(inputs: &mut Inputs, paths: &[OsString], recursive: bool) {
    for path in paths {
        match path.to_str().filter(|path| path.starts_with("http://") || path.starts_with("https://")) {
            Some(url) => {
                let content = download(url, &Environment::from_process(), Bounds::default()).await;
                inputs.content(url, content);
            }
            None => inputs.path(path, recursive),
        }
    }
}

/// Joins the manifests of releases. One that cannot be read is an error of the report, and the others are compared.
fn all_releases(
    texts: Vec<StoredText>,
    releases: Releases,
    mut unreadable: Vec<Diagnostic>,
    options: &ReadOptions,
    allow_empty: bool,
) -> Result<DesiredSet, Vec<Diagnostic>> {
    let mut all = DesiredSet::default();
    for StoredText { inputs, record, unreadable: lines, .. } in texts {
        if let Ok(read) = gather(read_chunks(&inputs, options.validation), options) {
            all.join(read.of_record(record, &lines));
        } else {
            // A message about the text could quote it.
            let message = format!("{record} cannot be compared: its manifest is not valid");
            let hint = "read that release alone, as in `--from helm/RELEASE -n NAMESPACE`, which shows the mistake";
            unreadable.push(Diagnostic::new(Code::Invalid, message).with_hint(hint));
        }
    }
    if all.manifests.is_empty() && unreadable.is_empty() && !allow_empty {
        let hint = "pass `--allow-empty` if that is intended";
        return Err(vec![Diagnostic::general("no object of the releases matches the selector").with_hint(hint)]);
    }
    Ok(DesiredSet { releases: Some(releases), unreadable, ..all })
}

/// About the number of kinds in texts that take a while to read: those that begin a line, as in a stream of YAML documents.
fn kinds(inputs: &[Input]) -> usize {
    let texts = || inputs.iter().map(|input| input.text.bytes());
    if texts().map(<[u8]>::len).sum::<usize>() < LONG {
        return 0;
    }
    let lines = texts().flat_map(|text| text.get(..BEGINNING).unwrap_or(text).split(|byte| *byte == b'\n'));
    lines.filter_map(|line| line.strip_prefix(b"kind:")).map(<[u8]>::trim_ascii).collect::<BTreeSet<_>>().len()
}

/// Reads all chunks, on several processors if there is much to read, and gives what was read in their order.
fn read_chunks(inputs: &[Input], validation: Validation) -> Vec<ReadChunk> {
    let chunks = Chunk::of(inputs);
    let budget = alias_budget(inputs);
    let text: usize = inputs.iter().map(|input| input.text.bytes().len()).sum();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let workers = processors.min((text / TEXT_OF_A_THREAD).saturating_add(1));
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, ReadChunk)> {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = numbers.map_while(|number| Some((number, chunks.get(number)?)));
        taken.map(|(number, chunk)| (number, chunk.read(validation, &budget))).collect()
    };
    let mut read = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut read = work();
        for other in others {
            match other.join() {
                Ok(chunk) => read.extend(chunk),
                Err(panic) => resume_unwind(panic),
            }
        }
        read
    });
    if budget.is_exhausted() {
        // The document that exceeded the bound depends on timing here. Read in order, it is always the same one.
        drop(read);
        return Chunk::read_in_order(inputs, validation);
    }
    read.sort_unstable_by_key(|(number, _)| *number);
    read.into_iter().map(|(_, chunk)| chunk).collect()
}
