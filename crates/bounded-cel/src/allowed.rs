//! Checks the parts of an expression. An unknown function is an error in the expression, not in the object; and the
//! interpreter recurses for each level.

use cel::common::ast::{EntryExpr, Expr};
use cel::parser::Expression;

use super::error::ParseError;

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

/// Checks every node of an expression.
pub(crate) fn check(expression: &Expression) -> Result<(), ParseError> {
    below(expression, MAX_DEPTH)
}

fn below(expression: &Expression, levels: usize) -> Result<(), ParseError> {
    let is_loop = matches!(expression.expr, Expr::Comprehension(_));
    let Some(levels) = levels.checked_sub(if is_loop { 2 } else { 1 }) else {
        return Err(ParseError::new(
            "the expression is nested too deeply",
            "split it, or compare with a list: `a in [1, 2]`",
        ));
    };
    let check = |expression: &Expression| below(expression, levels);
    match &expression.expr {
        Expr::Call(call) => {
            function(&call.func_name)?;
            call.target.as_deref().map_or(Ok(()), check)?;
            call.args.iter().try_for_each(check)
        }
        Expr::Comprehension(loops) => {
            [&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result]
                .into_iter()
                .try_for_each(check)
        }
        Expr::List(list) => list.elements.iter().try_for_each(check),
        Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => check(&entry.key).and_then(|()| check(&entry.value)),
            EntryExpr::StructField(_) => Err(message()),
        }),
        Expr::Select(select) => check(&select.operand),
        Expr::Struct(_) => Err(message()),
        Expr::Ident(_) | Expr::Literal(_) => Ok(()),
        Expr::Unspecified => Err(ParseError::new("the expression is not complete", "complete it")),
    }
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

fn message() -> ParseError {
    ParseError::new("message types are not supported", "compare fields one by one")
}
