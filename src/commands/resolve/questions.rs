//! `resolve`: one question for each difference, with the answers that can be taken.

use reconcile_core::resolve::{Choice, Decisions, Difference};
use reconcile_report::resolve::Question;
use reconcile_report::{Role, Styled};

use super::rule_file::RuleFile;
use crate::cli::InputArgs;
use crate::engine::interrupt::Interrupt;
use crate::output::Output;
use crate::run::edits::proposed::Refusals;
use crate::run::question::{answer, can_ask};
use reconcile_report::Failure;

/// The reason of a rule that is only tried.
const TRIED: &str = "tried";

/// Refuses the run if there is no terminal to ask on.
pub(crate) fn can_resolve(input: &InputArgs) -> Result<(), Failure> {
    let hint = "`apply` makes the cluster match the manifests, `pull` writes live values into them, and \
                `diff --suggest-ignores` prints ignore rules";
    can_ask("`resolve` asks on a terminal, and there is none", input, hint)
}

/// The questions of one run.
pub(crate) struct Asking<'a> {
    /// The terminal.
    pub output: &'a Output,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// The reasons why changes cannot be pulled.
    pub refusals: Refusals,
    /// The file for new rules, or the reason why there is none.
    pub rule_file: &'a Result<RuleFile, String>,
    /// The apply set that the configuration expects. Objects are not created outside of it.
    pub expected_set: Option<&'a str>,
}

/// For each answer the reason why it cannot be taken, if it cannot.
struct Offers {
    apply: Option<String>,
    pull: Option<String>,
    ignore: Option<String>,
}

impl Asking<'_> {
    /// Asks the questions one after the other. Returns `None` if the user quits.
    pub async fn decisions(&self, questions: &[Question]) -> Result<Option<Decisions>, Failure> {
        let mut decisions = Decisions::default();
        let takes_all = self.takes_rules(questions.iter().flat_map(Question::differences)).is_ok();
        for (number, question) in (1_usize..).zip(questions) {
            let terminal = &self.output.terminal;
            let mut text = Styled::new().with(Role::Note, format!("Difference {number} of {}", questions.len()));
            text.line_end();
            text.append(question.text(&self.output.view));
            terminal.message(&text);
            let Some(choice) = self.ask(&self.offers(question, takes_all)).await? else { return Ok(None) };
            question.differences().for_each(|difference| decisions.decide(difference, choice.clone()));
        }
        Ok(Some(decisions))
    }

    /// `takes_all` says that the configuration can take rules for all differences.
    fn offers(&self, question: &Question, takes_all: bool) -> Offers {
        let whole = "the object as a whole is missing, and its manifest stays";
        let pull = question.refusal(|difference| {
            let of_field = || self.refusals.of(&difference.key, &difference.change);
            if difference.is_whole_object() { Some(whole.to_owned()) } else { of_field() }
        });
        let is_missing = question.differences().any(|difference| difference.is_whole_object());
        let set = self.expected_set.filter(|_| is_missing);
        let set = set.map(|set| {
            format!("the configuration expects it in the apply set, which `apply --applyset {set}` adds it to")
        });
        let ignore = question
            .refusal(Difference::refusal_to_ignore)
            .or_else(|| if takes_all { None } else { self.takes_rules(question.differences()).err() });
        Offers { apply: question.refusal_to_apply().or(set), pull, ignore }
    }

    /// Tries to add rules for differences to the configuration, as far as they can be ignored. The error is the reason why it cannot
    /// take them.
    fn takes_rules(&self, differences: impl Iterator<Item = Difference>) -> Result<(), String> {
        let file = self.rule_file.as_ref().map_err(Clone::clone)?;
        let mut tried = Decisions::default();
        for difference in differences.filter(|difference| difference.refusal_to_ignore().is_none()) {
            tried.decide(difference, Choice::Ignore(TRIED.to_owned()));
        }
        let rules = tried.rules();
        if rules.is_empty() { Ok(()) } else { file.draft(&rules).map(drop) }
    }

    /// Asks until an answer can be taken; `None` if the user quits.
    async fn ask(&self, offers: &Offers) -> Result<Option<Choice>, Failure> {
        let terminal = &self.output.terminal;
        loop {
            terminal.message(&Styled::new().with(Role::Name, offers.prompt()));
            let Some(line) = answer(self.interrupt).await? else { return Ok(None) };
            match line.trim() {
                "a" if offers.apply.is_none() => return Ok(Some(Choice::Apply)),
                "p" if offers.pull.is_none() => return Ok(Some(Choice::Pull)),
                "s" => return Ok(Some(Choice::Skip)),
                "q" => return Ok(None),
                "i" if offers.ignore.is_none() => {
                    terminal.message(&Styled::new().with(Role::Name, "Reason for the rule: "));
                    let Some(reason) = answer(self.interrupt).await? else { return Ok(None) };
                    match Choice::ignore(&reason) {
                        Some(answer) => return Ok(Some(answer)),
                        None => terminal.note(Role::Hint, "a rule needs a reason"),
                    }
                }
                _ => terminal.message(&offers.help(self.rule_file)),
            }
        }
    }
}

impl Offers {
    /// `Resolve this? [a,s,q,?] `
    fn prompt(&self) -> String {
        let offered = [("a", &self.apply), ("p", &self.pull), ("i", &self.ignore)];
        let offered = offered.iter().filter(|(_, refusal)| refusal.is_none()).map(|(letter, _)| *letter);
        let letters: Vec<&str> = offered.chain(["s", "q", "?"]).collect();
        format!("Resolve this? [{}] ", letters.join(","))
    }

    fn help(&self, rule_file: &Result<RuleFile, String>) -> Styled {
        let file = rule_file.as_ref().map_or_else(|_| "the configuration".to_owned(), RuleFile::name);
        let meanings = [
            ("a", "apply: the cluster gets the value of the manifest".to_owned(), &self.apply),
            ("p", "pull: the manifest gets the value of the cluster".to_owned(), &self.pull),
            ("i", format!("ignore: a rule with a reason is added to {file}"), &self.ignore),
            ("s", "skip: leave it as it is for now".to_owned(), &None),
            ("q", "quit: change nothing at all".to_owned(), &None),
            ("?", "show this help".to_owned(), &None),
        ];
        let mut text = Styled::new();
        for (letter, meaning, refusal) in meanings {
            match refusal {
                None => text.push(Role::Hint, format!("{letter} - {meaning}")),
                Some(reason) => text.push(Role::Note, format!("{letter} is not offered: {reason}")),
            }
            text.line_end();
        }
        text
    }
}
