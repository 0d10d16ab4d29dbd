use std::collections::BTreeMap;

/// What the cases of a run were like: a run that compares nothing is no success.
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

    /// Fails if cases of a sort are so few that nothing is known about them.
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
        // A no-op that is not proven costs a question to the server.
        assert!(self.of("proven") * 10 >= self.of("unchanged") * 8, "few proofs: {:?}", self.0);
    }
}
