use std::collections::BTreeMap;

/// Counts the cases of a run by sort, so that a run without comparisons fails.
#[derive(Debug, Default)]
pub struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    pub fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub fn plus(mut self, other: Self) -> Self {
        for (what, number) in other.0 {
            *self.0.entry(what).or_default() += number;
        }
        self
    }

    fn of(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// Fails if there are too few cases of a sort.
    #[expect(clippy::print_stdout, reason = "for those who run many cases, with `--nocapture`")]
    pub fn check(&self, cases: usize) {
        println!("{:?}", self.0);
        let applied = self.of("applied");
        let refused = self.of("refused");
        assert!(applied + refused >= cases && refused * 10 <= cases, "{applied} of {cases} applies were compared");
        for (sort, percent) in
            [("conflicts", 10), ("changed", 30), ("unchanged", 10), ("pruned", 10), ("proven", 5), ("built in", 10)]
        {
            assert!(self.of(sort) * 100 >= applied * percent, "few of {applied} are `{sort}`: {:?}", self.0);
        }
        // A no-op without a proof costs a request.
        assert!(self.of("proven") * 10 >= self.of("unchanged") * 8, "few proofs: {:?}", self.0);
    }
}
