//! Budget of an evaluation.
//!
//! Rewrites an expression so that it pays for its work.
//!
//! ```text
//! a == b                      @charge(a) == @charge(b)
//! list.all(x, body)           @loop(list, size of the body).all(x, body)
//! [a]                         [@charge(a)]
//! ```
//!
//! `@charge` pays for the whole size of a value before an operator, a function or a literal reads or copies it. `@loop`
//! also pays for all iterations before the first one. Expressions that only pass a value on (`a.b`, `a ? b : c`) or
//! combine booleans are free.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::common::types::{CelBytes, CelInt, CelList, CelMap, CelOptional, CelString};
use cel::common::value::{CowVal, Val};
use cel::parser::Expression;
use cel::{Context, ExecutionError, FunctionContext};

/// Budget of one evaluation: approximately the number of steps of the interpreter, and of values that it reads or
/// copies. An expression over some hundred conditions of an object takes less than one percent of it; all of it takes
/// less than a tenth of a second.
const BUDGET: u64 = 200_000;
/// Number of bytes of a text that cost as much as one value.
const BYTES: usize = 32;
/// Function that charges for its argument, and returns it.
const CHARGE: &str = "@charge";
/// Function that charges for a list and for one iteration per item, whose cost is the second argument; returns the
/// list.
const LOOP: &str = "@loop";
/// Operators that only read booleans, or return one of their operands.
const FREE: [&str; 5] = [
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::CONDITIONAL,
    operators::NOT_STRICTLY_FALSE,
];

/// Panic payload that ends the evaluation when the budget is spent. An error could be absorbed by `||`, and the next
/// iteration would begin.
pub(crate) struct Spent;

/// Adds the functions that charge the budget.
pub(crate) fn install(context: &mut Context<'_, '_>) -> Result<(), cel::DeclarationError> {
    let left = Arc::new(AtomicU64::new(BUDGET));
    let of_loop = Arc::clone(&left);
    context.add_function(CHARGE, function(move |args| pay(&left, args.first().map_or(0, |value| size(&**value)))))?;
    context.add_function(
        LOOP,
        function(move |args| {
            let [range, cost] = args else { return };
            let each = cost.downcast_ref::<CelInt>().map_or(0, |cost| u64::try_from(*cost.inner()).unwrap_or(u64::MAX));
            pay(&of_loop, size(&**range).saturating_add(length(&**range).saturating_mul(each)));
        }),
    )
}

/// Type of a function in `cel`.
type Function = Box<
    dyn for<'context, 'call> Fn(
            &mut FunctionContext<'context, 'call>,
        ) -> Result<CowVal<'context, 'call>, ExecutionError>
        + Send
        + Sync,
>;

/// Creates a function that pays for its arguments and returns the first.
fn function(paid: impl Fn(&[CowVal<'_, '_>]) + Send + Sync + 'static) -> Function {
    Box::new(move |call| {
        paid(&call.args);
        if call.args.is_empty() {
            return Err(ExecutionError::missing_argument_or_target());
        }
        Ok(call.args.swap_remove(0))
    })
}

/// Charges the budget, or ends the evaluation if it is spent.
fn pay(left: &AtomicU64, price: u64) {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(price));
    if taken.is_err() {
        // Does not run the panic hook, so that nothing is printed.
        resume_unwind(Box::new(Spent));
    }
}

/// Number of iterations of a loop over a value.
fn length(value: &dyn Val) -> u64 {
    let length = value.as_sizer().map_or(0, |sized| *sized.size().inner());
    u64::try_from(length).unwrap_or(0)
}

/// Number of values in a value, including itself; not much more than the budget.
fn size(value: &dyn Val) -> u64 {
    let mut total = 0;
    add(value, &mut total);
    total
}

fn add(value: &dyn Val, total: &mut u64) {
    let bytes = |length: usize| u64::try_from(length / BYTES).unwrap_or(u64::MAX);
    *total = total.saturating_add(1);
    if *total > BUDGET {
        return;
    }
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        *total = total.saturating_add(bytes(text.inner().len()));
    } else if let Some(data) = value.downcast_ref::<CelBytes<'_>>() {
        *total = total.saturating_add(bytes(data.inner().len()));
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().for_each(|item| add(&**item, total));
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        for (key, value) in map.inner() {
            add(key.inner(), total);
            add(&**value, total);
        }
    } else if let Some(inner) = value.downcast_ref::<CelOptional<'_>>().and_then(CelOptional::inner) {
        add(inner, total);
    }
}

/// Rewrites an expression and everything in it.
pub(crate) fn metered(expression: Expression) -> Expression {
    let Expression { id, expr } = expression;
    let expr = match expr {
        Expr::Call(call) => Expr::Call(of_call(call)),
        Expr::Comprehension(mut loops) => {
            let cost = nodes(&loops.loop_cond).saturating_add(nodes(&loops.loop_step));
            loops.iter_range = looped(metered(loops.iter_range), cost);
            loops.accu_init = charged(loops.accu_init);
            loops.loop_cond = metered(loops.loop_cond);
            loops.loop_step = metered(loops.loop_step);
            loops.result = metered(loops.result);
            Expr::Comprehension(loops)
        }
        Expr::List(mut list) => {
            list.elements = list.elements.into_iter().map(charged).collect();
            Expr::List(list)
        }
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = charged(std::mem::take(&mut entry.key));
                    entry.value = charged(std::mem::take(&mut entry.value));
                }
            }
            Expr::Map(map)
        }
        Expr::Select(mut select) => {
            *select.operand = metered(*select.operand);
            Expr::Select(select)
        }
        other => other,
    };
    Expression { id, expr }
}

fn of_call(call: CallExpr) -> CallExpr {
    let CallExpr { func_name, target, args } = call;
    // The steps of `map`, `filter` and `exists_one`: `@result + [item]` appends in place only in this form.
    let is_step = func_name == operators::ADD && args.first().is_some_and(is_result);
    let is_free = is_step || FREE.contains(&func_name.as_str());
    let args = args.into_iter().map(if is_free { metered } else { charged }).collect();
    // The target of `optional.of(…)` is the name of a library.
    let target = target.map(|target| Box::new(if is_library(&target) { *target } else { charged(*target) }));
    CallExpr { func_name, target, args }
}

fn charged(expression: Expression) -> Expression {
    let is_free = is_result(&expression) || matches!(expression.expr, Expr::Literal(_));
    let Expression { id, expr } = metered(expression);
    if is_free {
        return Expression { id, expr };
    }
    call(id, CHARGE, vec![Expression { id, expr }])
}

fn looped(range: Expression, cost: usize) -> Expression {
    let cost = LiteralValue::Int(i64::try_from(cost).unwrap_or(i64::MAX).into());
    let id = range.id;
    call(id, LOOP, vec![range, Expression { id, expr: Expr::Literal(cost) }])
}

fn call(id: u64, name: &str, args: Vec<Expression>) -> Expression {
    Expression { id, expr: Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }) }
}

fn is_result(expression: &Expression) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name.starts_with('@'))
}

fn is_library(expression: &Expression) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name == "optional")
}

/// Number of nodes of an expression: the cost of one evaluation, without its loops and its data.
fn nodes(expression: &Expression) -> usize {
    children(expression).into_iter().map(nodes).fold(1, usize::saturating_add)
}

/// The expressions right below one. There are no messages, as no condition can have one.
pub(crate) fn children(expression: &Expression) -> Vec<&Expression> {
    match &expression.expr {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Comprehension(loops) => {
            vec![&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result]
        }
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => {
            let entries = map.entries.iter().map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                EntryExpr::StructField(field) => vec![&field.value],
            });
            entries.flatten().collect()
        }
        Expr::Select(select) => vec![&select.operand],
        Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
    }
}
