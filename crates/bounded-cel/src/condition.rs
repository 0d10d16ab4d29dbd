//! Parses and evaluates a condition.
//!
//! The parser of `cel` recurses for each bracket and each operand, so the size of a text is checked before, which bounds its stack.
//! JSON is converted to values of `cel` that borrow its strings. An unknown function is an error in the expression, not in the object.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::thread;

use cel::common::ast::{EntryExpr, Expr, IdedEntryExpr};
use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt};
use cel::common::value::Val;
use cel::parser::{Expression, Parser};
use cel::{Context, Env, ExecutionError};
use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::budget::{self, Spent, children, metered};
use super::error::{EvaluationError, ParseError};
use crate::MAX_LENGTH;

/// Stack size of the parser, which recurses through a dozen rules for each bracket. The system only allocates the part
/// that is used.
const STACK: usize = 16 << 20;

/// CEL's standard functions.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The functions of `cel`'s standard environment that a condition can need.
const FUNCTIONS: [&str; 19] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "bytes",
    "type",
    "dyn",
    "of",
    "ofNonZeroValue",
    "none",
    "hasValue",
    "value",
    "or",
    "orValue",
];
/// Macros, whose names remain in an expression only if they were called in a wrong way.
const MACROS: [(&str, &str); 7] = [
    ("has", "write `has(status.phase)`"),
    ("all", "write `status.conditions.all(c, c.status == \"True\")`"),
    ("exists", "write `status.conditions.exists(c, c.type == \"Ready\")`"),
    ("exists_one", "write `status.conditions.exists_one(c, c.type == \"Ready\")`"),
    ("existsOne", "write `status.conditions.existsOne(c, c.type == \"Ready\")`"),
    ("map", "write `status.conditions.map(c, c.type)`"),
    ("filter", "write `status.conditions.filter(c, c.type == \"Ready\")`"),
];
/// Largest number of levels of an expression: the stack of a thread is large enough for them, also without
/// optimisation. `&&` and `||` need one more level for twice as many operands.
const MAX_DEPTH: usize = 16;

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

/// Writes the expression as it was written.
impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Condition {
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        check_size(text)?;
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
        check(&expression, MAX_DEPTH)?;
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
            context.add_variable_as_val(name, value(field));
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
    /// True while the thread runs code whose panics are caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code and catches its panics, as parsing and evaluating do with those of `cel`.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let before = GUARDED.replace(true);
    // No data of the closure is used after a panic.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    outcome
}

/// Returns true while this thread runs code whose panics are caught and become an error of the expression. The panic hook of a program
/// should print nothing for such a panic: its message could show a value of the object.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Largest number of brackets in an expression, including those in strings. Their number bounds the depth.
const MAX_BRACKETS: usize = 40;
/// Largest number of names, numbers and signs in an expression: each of `a.a.a`, `1+1+1` and `a?b:c` nests as deeply as
/// it is long.
const MAX_TOKENS: usize = 300;

/// Checks the size of a text before the parser of `cel` reads it.
fn check_size(text: &str) -> Result<(), ParseError> {
    let hint = "shorten it";
    if text.trim().is_empty() {
        return Err(ParseError::new("the expression is empty", "write one as in `status.phase == \"Ready\"`"));
    }
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new(format!("the expression is longer than {MAX_LENGTH} bytes"), hint));
    }
    if text.chars().filter(|character| "([{".contains(*character)).count() > MAX_BRACKETS {
        return Err(ParseError::new(format!("the expression has more than {MAX_BRACKETS} brackets"), hint));
    }
    if tokens(text) > MAX_TOKENS {
        let message = format!("the expression has more than {MAX_TOKENS} names, numbers and signs");
        return Err(ParseError::new(message, hint));
    }
    Ok(())
}

/// Upper bound of the number of tokens: each run of letters and digits, and each other character.
fn tokens(text: &str) -> usize {
    let mut tokens: usize = 0;
    let mut continues = false;
    for character in text.chars() {
        let is_word = character.is_alphanumeric() || character == '_';
        let is_new = if is_word { !continues } else { !character.is_whitespace() };
        tokens = tokens.saturating_add(usize::from(is_new));
        continues = is_word;
    }
    tokens
}

/// Converts a JSON value; whole numbers become `int`.
fn value(json: &Value) -> Box<dyn Val + '_> {
    match json {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => number_value(number),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => Box::new(CelList::from(items.iter().map(value).collect::<Vec<_>>())),
        Value::Object(fields) => {
            let key = |name| CelMapKey::String(CelString::from(String::as_str(name)));
            let entries: HashMap<_, _> = fields.iter().map(|(name, field)| (key(name), value(field))).collect();
            Box::new(CelMap::from(entries))
        }
    }
}

fn number_value(number: &Number) -> Box<dyn Val> {
    if let Some(int) = number.as_i64() {
        Box::new(CelInt::from(int))
    } else if let Some(uint) = number.as_u64() {
        Box::new(CelUInt::from(uint))
    } else {
        Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN)))
    }
}

/// Checks every node of an expression, which may have this many levels.
fn check(expression: &Expression, levels: usize) -> Result<(), ParseError> {
    let is_loop = matches!(expression.expr, Expr::Comprehension(_));
    let Some(levels) = levels.checked_sub(if is_loop { 2 } else { 1 }) else {
        return Err(ParseError::new(
            "the expression is nested too deeply",
            "split it, or compare with a list: `a in [1, 2]`",
        ));
    };
    let is_field = |entry: &IdedEntryExpr| matches!(entry.expr, EntryExpr::StructField(_));
    match &expression.expr {
        Expr::Call(call) => function(&call.func_name)?,
        Expr::Map(map) if !map.entries.iter().any(is_field) => {}
        Expr::Map(_) | Expr::Struct(_) => {
            return Err(ParseError::new("message types are not supported", "compare fields one by one"));
        }
        Expr::Unspecified => return Err(ParseError::new("the expression is not complete", "complete it")),
        Expr::Comprehension(_) | Expr::List(_) | Expr::Select(_) | Expr::Ident(_) | Expr::Literal(_) => {}
    }
    children(expression).into_iter().try_for_each(|child| check(child, levels))
}

/// Checks the name of a function. Operators are calls whose names cannot be written.
fn function(name: &str) -> Result<(), ParseError> {
    let is_operator = name.starts_with(['_', '!', '-', '@']);
    if is_operator || FUNCTIONS.contains(&name) {
        return Ok(());
    }
    if let Some((_, hint)) = MACROS.iter().find(|(known, _)| *known == name) {
        return Err(ParseError::new(format!("`{name}` is not called as it has to be"), *hint));
    }
    let hint = format!(
        "the functions are `{}`, and the macros `has`, `all`, `exists`, `exists_one`, `map` and `filter`",
        FUNCTIONS.join("`, `")
    );
    Err(ParseError::new(format!("there is no function `{name}`"), hint))
}
