use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, LazyLock, Once};
use std::thread;

use cel::parser::{Expression, Parser};
use cel::{Context, Env, ExecutionError};
use serde_json::{Map, Value};

use super::budget::{self, Spent};
use super::error::{EvaluationError, ParseError};
use super::metered::metered;
use super::{allowed, check, variables};

/// Stack size of the parser, which recurses through a dozen rules for each bracket. The system only allocates the part
/// that is used.
const STACK: usize = 16 << 20;

/// CEL's standard functions.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// An expression that is true or false for an object.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    expression: Arc<Expression>,
    /// The top-level fields that the expression can read.
    reads: BTreeSet<String>,
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Condition {}

impl Condition {
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        check::check(text)?;
        let read = || guarded(|| Self::read(text)).ok();
        let outcome = thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read).ok()?;
            reader.join().ok().flatten()
        });
        let failed = || ParseError::new("the parser of CEL failed", "write the expression in another way");
        outcome.unwrap_or_else(|| Err(failed()))
    }

    fn read(text: &str) -> Result<Self, ParseError> {
        let expression = parsed(text)?;
        allowed::check(&expression)?;
        let reads = expression.references().variables().into_iter().map(ToOwned::to_owned).collect();
        Ok(Self { text: text.to_owned(), expression: Arc::new(metered(expression)), reads })
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluates the expression; the top-level fields of the object are its variables.
    pub fn holds(&self, object: &Value) -> Result<bool, EvaluationError> {
        let nothing = Map::new();
        let fields = object.as_object().unwrap_or(&nothing);
        guarded(|| self.evaluate(fields)).unwrap_or_else(|cause| {
            Err(if cause.is::<Spent>() { EvaluationError::TooCostly } else { EvaluationError::Internal })
        })
    }

    fn evaluate(&self, fields: &Map<String, Value>) -> Result<bool, EvaluationError> {
        let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
        budget::install(&mut context).map_err(|_| EvaluationError::Internal)?;
        for (name, field) in fields.iter().filter(|(name, _)| self.reads.contains(*name)) {
            context.add_variable_as_val(name, variables::value(field));
        }
        match cel::Value::resolve(&self.expression, &context) {
            Ok(cel::Value::Bool(answer)) => Ok(answer),
            Ok(_) => Err(EvaluationError::NotBoolean),
            Err(error) => Err(self.redacted(&error)),
        }
    }

    /// Removes object data from an error: it keeps names that are in the text of the expression, and never a value.
    fn redacted(&self, error: &ExecutionError) -> EvaluationError {
        let spelled = |name: &str| self.text.contains(name).then(|| name.to_owned());
        match error {
            ExecutionError::NoSuchKey(name) | ExecutionError::UndeclaredReference(name) => {
                EvaluationError::Missing(spelled(name))
            }
            ExecutionError::IndexOutOfBounds(_)
            | ExecutionError::DivisionByZero(_)
            | ExecutionError::RemainderByZero(_)
            | ExecutionError::Overflow(..) => EvaluationError::Range,
            ExecutionError::InternalError(_) => EvaluationError::Internal,
            _ => EvaluationError::Types,
        }
    }
}

fn parsed(text: &str) -> Result<Expression, ParseError> {
    let parser = Parser::new().error_recovery_limit(4).enable_optional_syntax(true);
    parser.parse(text).map_err(|errors| {
        let hint = "expressions look like `status.phase == \"Ready\"`";
        let Some(first) = errors.errors.first() else { return ParseError::new("not a valid CEL expression", hint) };
        let position = usize::try_from(first.pos.0).ok().zip(usize::try_from(first.pos.1).ok());
        // Drop the list of all tokens that could follow.
        let message = first.msg.split(" expecting {").next().unwrap_or_default();
        let message = message.trim_start_matches("Syntax error: ");
        let position = position.filter(|(line, column)| *line > 0 && *column > 0);
        ParseError { position, ..ParseError::new(format!("not a valid CEL expression: {message}"), hint) }
    })
}

thread_local! {
    /// True while the thread runs code of `cel`.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of `cel` and catches its panics. They are not printed, as they could show a value.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    // No data of the closure is used after a panic.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    outcome
}
