//! Reading on several processors: the shares are independent, and only the order of their results counts.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::desired::files::Input;
use crate::desired::{ReadOptions, ReadShare, Share};

/// How much text is worth a thread, in bytes.
const TEXT_OF_A_THREAD: usize = 1 << 20;

/// Reads all shares, on several processors if there is much to read, and gives what was read in their order.
pub(super) fn read_shares(inputs: &[Input], options: &ReadOptions) -> Vec<ReadShare> {
    let shares = Share::of(inputs);
    let text: usize = inputs.iter().map(|input| input.text.bytes().len()).sum();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let workers = processors.min(1 + text / TEXT_OF_A_THREAD);
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, ReadShare)> {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = numbers.map_while(|number| Some((number, shares.get(number)?)));
        taken.map(|(number, share)| (number, share.read(options))).collect()
    };
    let mut read = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut read = work();
        for other in others {
            match other.join() {
                Ok(share) => read.extend(share),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read
    });
    read.sort_unstable_by_key(|(number, _)| *number);
    read.into_iter().map(|(_, share)| share).collect()
}
