//! Budget of an evaluation.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cel::common::types::{CelBytes, CelInt, CelList, CelMap, CelOptional, CelString};
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, FunctionContext};

use super::metered::{CHARGE, LOOP};

/// Budget of one evaluation: approximately the number of steps of the interpreter, and of values that it reads or
/// copies. An expression over some hundred conditions of an object takes less than one percent of it; all of it takes
/// less than a tenth of a second.
const BUDGET: u64 = 200_000;
/// Number of bytes of a text that cost as much as one value.
const BYTES: usize = 32;

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
