//! From a person's answers, which are texts, to the types the form asks for; checked on the way.

use std::{collections::BTreeMap, fmt};

use accord_protocol::v1::ElicitationContentValue;
use regex_lite::Regex;
use serde::Serialize;

use super::{Question, QuestionKind};

/// A person's answers by question: no text leaves the question out, several texts are for questions that allow them.
pub type Answers = BTreeMap<String, Vec<String>>;

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Problem {
    /// The question.
    pub question: String,
    /// What is wrong.
    pub problem: ProblemKind,
}

/// What can be wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// An answer must be given.
    Missing,
    /// The form has no such question.
    UnknownQuestion,
    /// One answer was wanted.
    TooMany,
    /// The answer is not among the choices.
    NoChoice,
    /// The answer is no such number, date, address or flag.
    WrongKind,
    /// The text is too short or too long, or does not match the pattern.
    TextLimits,
    /// The number is too small or too large.
    NumberLimits,
    /// Fewer or more answers were given than are accepted.
    CountLimits,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            ProblemKind::Missing => "an answer is required",
            ProblemKind::UnknownQuestion => "there is no such question",
            ProblemKind::TooMany => "only one answer is accepted",
            ProblemKind::NoChoice => "the answer is not among the choices",
            ProblemKind::WrongKind => "the answer is not of the kind asked for",
            ProblemKind::TextLimits => "the text is not within its limits",
            ProblemKind::NumberLimits => "the number is not within its limits",
            ProblemKind::CountLimits => "that many answers are not accepted",
        };
        write!(f, "{}: {what}", self.question)
    }
}

pub(super) fn convert(
    questions: &[Question],
    answers: &Answers,
) -> Result<BTreeMap<String, ElicitationContentValue>, Vec<Problem>> {
    let mut content = BTreeMap::new();
    let mut problems = Vec::new();
    for question in questions {
        match answer(question, answers.get(&question.id)) {
            Ok(Some(value)) => drop(content.insert(question.id.clone(), value)),
            Ok(None) => {}
            Err(problem) => problems.push(Problem { question: question.id.clone(), problem }),
        }
    }
    let unknown = answers.keys().filter(|id| !questions.iter().any(|question| question.id == **id));
    problems
        .extend(unknown.map(|id| Problem { question: id.clone(), problem: ProblemKind::UnknownQuestion }));
    if problems.is_empty() { Ok(content) } else { Err(problems) }
}

fn answer(
    question: &Question,
    texts: Option<&Vec<String>>,
) -> Result<Option<ElicitationContentValue>, ProblemKind> {
    let texts = match (texts, &question.default) {
        (None, Some(default)) => return Ok(Some(default.clone())),
        (Some(texts), _) => texts.as_slice(),
        (None, None) => &[],
    };
    if texts.is_empty() {
        return if question.required { Err(ProblemKind::Missing) } else { Ok(None) };
    }
    if question.multiple {
        return several(question, texts).map(Some);
    }
    match texts {
        [text] => one(question, text).map(Some),
        _ => Err(ProblemKind::TooMany),
    }
}

fn several(question: &Question, texts: &[String]) -> Result<ElicitationContentValue, ProblemKind> {
    let count = texts.len() as u64;
    let limits = &question.limits;
    if limits.min_items.is_some_and(|least| count < least)
        || limits.max_items.is_some_and(|most| count > most)
    {
        return Err(ProblemKind::CountLimits);
    }
    if texts.iter().all(|text| is_choice(question, text)) {
        Ok(ElicitationContentValue::StringArray(texts.to_vec()))
    } else {
        Err(ProblemKind::NoChoice)
    }
}

fn one(question: &Question, text: &str) -> Result<ElicitationContentValue, ProblemKind> {
    if !is_choice(question, text) {
        return Err(ProblemKind::NoChoice);
    }
    match question.kind {
        QuestionKind::Number => {
            let number: f64 = text.trim().parse().map_err(|_| ProblemKind::WrongKind)?;
            if !number.is_finite() {
                return Err(ProblemKind::WrongKind);
            }
            within(question, number)?;
            Ok(number.into())
        }
        QuestionKind::Integer => {
            let number: i64 = text.trim().parse().map_err(|_| ProblemKind::WrongKind)?;
            #[expect(
                clippy::cast_precision_loss,
                reason = "a limit beyond 2^53 is as good as its neighbour"
            )]
            within(question, number as f64)?;
            Ok(number.into())
        }
        QuestionKind::Boolean => match text.trim() {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(ProblemKind::WrongKind),
        },
        kind => {
            if !has_form(kind, text) {
                return Err(ProblemKind::WrongKind);
            }
            if !fits(question, text) {
                return Err(ProblemKind::TextLimits);
            }
            Ok(text.into())
        }
    }
}

fn is_choice(question: &Question, text: &str) -> bool {
    question.choices.is_empty() || question.choices.iter().any(|choice| choice.value == text)
}

fn within(question: &Question, number: f64) -> Result<(), ProblemKind> {
    let limits = &question.limits;
    let fits = limits.minimum.is_none_or(|least| number >= least)
        && limits.maximum.is_none_or(|most| number <= most);
    if fits { Ok(()) } else { Err(ProblemKind::NumberLimits) }
}

fn fits(question: &Question, text: &str) -> bool {
    let limits = &question.limits;
    let length = text.chars().count();
    let longer_than = |limit: u32| length > limit as usize;
    let shorter_than = |limit: u32| length < limit as usize;
    // A pattern this engine cannot read is left to the agent to check.
    let mismatch = |pattern: &String| Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text));
    !limits.min_length.is_some_and(shorter_than)
        && !limits.max_length.is_some_and(longer_than)
        && !limits.pattern.as_ref().is_some_and(mismatch)
}

/// Whether a text looks like what its kind asks for. The agent judges whether it is one.
fn has_form(kind: QuestionKind, text: &str) -> bool {
    match kind {
        QuestionKind::Email => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && no_space(text)
        }),
        QuestionKind::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
                && no_space(text)
        }),
        QuestionKind::Date => is_date(text),
        QuestionKind::DateTime => text.split_once(['T', 't', ' ']).is_some_and(|(date, time)| {
            let mut digits = time.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
            let mut below = |limit: u32| {
                digits
                    .next()
                    .is_some_and(|part| part.len() == 2 && part.parse::<u32>().is_ok_and(|n| n < limit))
            };
            is_date(date) && below(24) && below(60) && below(61)
        }),
        _ => true,
    }
}

fn no_space(text: &str) -> bool {
    !text.contains(char::is_whitespace)
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u32>().ok()
    };
    let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day) && parts.next().is_none()
}
