//! `resolve`: one question for each difference, with the answers that can be taken.

use reconcile_core::compare::Class;
use reconcile_core::resolve::{Choice, Decisions, Difference};
use reconcile_report::resolve::{Bound, Question};
use reconcile_report::{Role, Styled};

use super::rule_file::RuleFile;
use crate::cli::InputArgs;
use crate::engine::interrupt::Interrupt;
use crate::output::Output;
use crate::run::edits::proposed::Refusals;
use crate::run::edits::switches::Switches;
use crate::run::question::{answer, can_ask};
use reconcile_report::Failure;
use structured_merge::FieldPath;

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
    /// The changes that go together.
    pub switches: Switches,
    /// The file for new rules, or the reason why there is none.
    pub rule_file: &'a Result<RuleFile, String>,
    /// The apply set that the configuration expects. Objects are not created outside of it.
    pub expected_set: Option<&'a str>,
}

/// For each answer the reason why it cannot be taken, if it cannot; and what the other answers refer to.
struct Offers {
    /// Of what was added by hand, the removal.
    apply: Option<String>,
    /// True if it was added by hand, so that an apply removes it.
    is_added: bool,
    pull: Option<String>,
    ignore: Option<String>,
    skip: Option<String>,
    /// Number of later questions of the same kind.
    later: usize,
    /// True if no question was answered before.
    is_first: bool,
    /// The last answer to a question of the same kind.
    last: Option<Choice>,
}

/// The answer to one question.
struct Answered {
    choice: Choice,
    /// False if an earlier question of the same kind was answered for it.
    is_typed: bool,
}

/// An answer for all later questions of one kind.
struct Same {
    kind: Class,
    choice: Choice,
    /// The question at which it was typed.
    since: usize,
}

/// The answers so far.
#[derive(Default)]
pub(crate) struct Answers {
    /// Those to the first questions, in their order.
    given: Vec<Answered>,
    same: Vec<Same>,
}

impl Answers {
    /// Forgets the last answer that was typed, and those that followed from it.
    pub fn back(&mut self) {
        while self.given.pop().is_some_and(|answered| !answered.is_typed) {}
        self.same.retain(|same| same.since < self.given.len());
    }
}

/// The reply to one prompt.
enum Reply {
    /// The decision about this question.
    Decide(Choice),
    /// The decision about this question and all later ones of its kind.
    DecideKind(Choice),
    /// Back to the last answer.
    Back,
    /// The end of the run.
    Quit,
}

impl Asking<'_> {
    /// Asks the questions that have no answer yet, one after the other. Returns `None` if the user quits.
    pub async fn decisions(&self, questions: &[Question], answers: &mut Answers) -> Result<Option<Decisions>, Failure> {
        let takes_all = self.takes_rules(questions.iter().flat_map(Question::differences)).is_ok();
        while let Some(question) = questions.get(answers.given.len()) {
            let kind = question.kind();
            let number = answers.given.len().saturating_add(1);
            let before = questions.iter().zip(answers.given.iter().map(|answered| &answered.choice));
            let mut offers = self.offers(question, takes_all).within(question.bound(before));
            offers.agree(self.answers_to_halves(question, questions, answers));
            let decided = answers.same.iter().find(|same| Some(same.kind) == kind && offers.takes(&same.choice));
            if let Some(Same { choice, .. }) = decided {
                let choice = choice.clone();
                answers.given.push(Answered { choice, is_typed: false });
                continue;
            }
            let is_of_kind = |other: &&Question| other.kind() == kind;
            offers.later = questions.iter().skip(number).filter(is_of_kind).count();
            offers.is_first = answers.given.is_empty();
            let mut of_kind = questions.iter().zip(&answers.given).filter(|(other, _)| is_of_kind(other));
            offers.last = of_kind.next_back().map(|(_, answered)| answered.choice.clone());
            let mut text = Styled::new().with(Role::Note, format!("Difference {number} of {}", questions.len()));
            text.line_end();
            text.append(question.text(&self.output.view));
            self.output.terminal.message(&text);
            match self.ask(&offers).await? {
                Reply::Decide(choice) => answers.given.push(Answered { choice, is_typed: true }),
                Reply::DecideKind(choice) => {
                    let since = answers.given.len();
                    let told = format!("the same for {} of this kind", others(offers.later));
                    self.output.terminal.note(Role::Note, &told);
                    answers.same.extend(kind.map(|kind| Same { kind, choice: choice.clone(), since }));
                    answers.given.push(Answered { choice, is_typed: true });
                }
                Reply::Back => answers.back(),
                Reply::Quit => return Ok(None),
            }
        }
        let mut decisions = Decisions::default();
        for (question, Answered { choice, .. }) in questions.iter().zip(&answers.given) {
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
            .refusal_to_ignore()
            .or_else(|| if takes_all { None } else { self.takes_rules(question.differences()).err() });
        let apply = question.refusal_to_apply().or(set);
        let is_added = question.kind() == Some(Class::Unmanaged);
        Offers { apply, is_added, pull, ignore, skip: None, later: 0, is_first: true, last: None }
    }

    /// The answers to earlier questions about the other halves of switches, each with its field.
    fn answers_to_halves<'q>(
        &'q self,
        question: &Question,
        questions: &'q [Question],
        answers: &'q Answers,
    ) -> Vec<(&'q FieldPath, &'q Choice)> {
        let mut found = Vec::new();
        for difference in question.differences() {
            for path in self.switches.others(&difference.key, &difference.change) {
                let is_it = |other: Difference| other.key == difference.key && other.change.path == *path;
                let earlier = questions.iter().zip(&answers.given);
                let earlier = earlier.filter(|(other, _)| other.differences().any(is_it));
                found.extend(earlier.map(|(_, answered)| (path, &answered.choice)));
            }
        }
        found
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

    /// Asks until an answer can be taken.
    async fn ask(&self, offers: &Offers) -> Result<Reply, Failure> {
        let terminal = &self.output.terminal;
        let mut decides_kind = false;
        loop {
            let prompt = if decides_kind { offers.prompt_of_kind() } else { offers.prompt() };
            terminal.message(&Styled::new().with(Role::Name, prompt));
            let Some(line) = answer(self.interrupt).await? else { return Ok(Reply::Quit) };
            let choice = match line.trim() {
                letter if letter == offers.letter() && offers.apply.is_none() => Choice::Apply,
                "p" if offers.pull.is_none() => Choice::Pull,
                "s" if offers.skip.is_none() => Choice::Skip,
                "q" => return Ok(Reply::Quit),
                "b" if decides_kind => {
                    decides_kind = false;
                    continue;
                }
                "b" if !offers.is_first => return Ok(Reply::Back),
                "A" if offers.later > 0 && !decides_kind => match offers.last.clone() {
                    Some(last) if offers.takes(&last) => return Ok(Reply::DecideKind(last)),
                    _ => {
                        decides_kind = true;
                        continue;
                    }
                },
                "i" if offers.ignore.is_none() => {
                    terminal.message(&Styled::new().with(Role::Name, "Reason for the rule: "));
                    let Some(reason) = answer(self.interrupt).await? else { return Ok(Reply::Quit) };
                    let Some(answer) = Choice::ignore(&reason) else {
                        terminal.note(Role::Hint, "a rule needs a reason");
                        continue;
                    };
                    answer
                }
                _ => {
                    terminal.message(&offers.help(self.rule_file));
                    continue;
                }
            };
            return Ok(if decides_kind { Reply::DecideKind(choice) } else { Reply::Decide(choice) });
        }
    }
}

impl Offers {
    /// Leaves out what earlier answers do not leave. What can neither be applied nor anything else is left as it is.
    fn within(self, Bound { apply, others }: Bound) -> Self {
        let apply = self.apply.or(apply);
        let skip = others.clone().filter(|_| apply.is_none());
        Self { apply, skip, pull: self.pull.or(others.clone()), ignore: self.ignore.or(others), ..self }
    }

    /// Leaves out what does not agree with the answers to the other halves of a switch: both are applied, or pulled, or neither. What can
    /// only be left as it is stays so.
    fn agree(&mut self, halves: Vec<(&FieldPath, &Choice)>) {
        for (path, choice) in halves {
            let reason = |answer: &str| Some(format!("it goes together with {path}, which is {answer}"));
            let (applied, pulled) = (*choice == Choice::Apply, *choice == Choice::Pull);
            if !applied {
                let answer = if pulled { "pulled" } else { "not applied" };
                self.apply = self.apply.take().or_else(|| reason(answer));
            }
            if !pulled {
                let answer = if applied { "applied" } else { "not pulled" };
                self.pull = self.pull.take().or_else(|| reason(answer));
            }
            if applied || pulled {
                let answer = || reason(if applied { "applied" } else { "pulled" });
                self.ignore = self.ignore.take().or_else(answer);
                let is_left = if applied { self.apply.is_some() } else { self.pull.is_some() };
                self.skip = self.skip.take().or_else(|| if is_left { None } else { answer() });
            }
        }
    }

    /// Returns true if the question takes this answer.
    fn takes(&self, choice: &Choice) -> bool {
        let refusal = match choice {
            Choice::Apply => &self.apply,
            Choice::Pull => &self.pull,
            Choice::Ignore(_) => &self.ignore,
            Choice::Skip => &self.skip,
        };
        refusal.is_none()
    }

    /// The letter of the answer that changes the cluster.
    fn letter(&self) -> &'static str {
        if self.is_added { "r" } else { "a" }
    }

    /// The letters of the answers that decide.
    fn decisive(&self) -> impl Iterator<Item = &'static str> {
        let offered = [(self.letter(), &self.apply), ("p", &self.pull), ("i", &self.ignore), ("s", &self.skip)];
        offered.into_iter().filter(|(_, refusal)| refusal.is_none()).map(|(letter, _)| letter)
    }

    /// `Resolve this? [a,s,b,A,q,?] `
    fn prompt(&self) -> String {
        let back = (!self.is_first).then_some("b");
        let kind = (self.later > 0).then_some("A");
        let letters: Vec<&str> = self.decisive().chain(back).chain(kind).chain(["q", "?"]).collect();
        format!("Resolve this? [{}] ", letters.join(","))
    }

    /// `Resolve this and 3 others of its kind? [a,s,b,q,?] `
    fn prompt_of_kind(&self) -> String {
        let letters: Vec<&str> = self.decisive().chain(["b", "q", "?"]).collect();
        format!("Resolve this and {} of its kind? [{}] ", others(self.later), letters.join(","))
    }

    fn help(&self, rule_file: &Result<RuleFile, String>) -> Styled {
        let file = rule_file.as_ref().map_or_else(|_| "the configuration".to_owned(), RuleFile::name);
        let refused = |is_refused: bool, reason: &str| is_refused.then(|| reason.to_owned());
        let changes = if self.is_added {
            "remove: it goes from the cluster, as the manifest does not have it"
        } else {
            "apply: the cluster gets the value of the manifest"
        };
        let kind = match &self.last {
            Some(last) if self.takes(last) => "all: give the last answer to every later difference of this kind",
            _ => "all: asks for one answer to every later difference of this kind",
        };
        let meanings = [
            (self.letter(), changes.to_owned(), &self.apply),
            ("p", "pull: the manifest gets the value of the cluster".to_owned(), &self.pull),
            ("i", format!("ignore: a rule with a reason is added to {file}"), &self.ignore),
            ("s", "skip: leave it as it is for now".to_owned(), &self.skip),
            ("b", "back: change the last answer".to_owned(), &refused(self.is_first, "there is no answer yet")),
            ("A", kind.to_owned(), &refused(self.later == 0, "no later difference is of this kind")),
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

/// `1 other`, `3 others`
fn others(count: usize) -> String {
    format!("{count} {}", if count == 1 { "other" } else { "others" })
}
