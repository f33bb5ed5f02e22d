//! From a form's schema to questions.

use std::collections::HashSet;

use accord_protocol::{
    open::Ordered,
    rpc::Error,
    v1::{
        ElicitationContentValue, ElicitationPropertySchema, ElicitationSchema, EnumOption,
        IntegerPropertySchema, MultiSelectItems, MultiSelectPropertySchema, NumberPropertySchema,
        StringFormat, StringPropertySchema,
    },
};

use super::{AnswerLimits, Choice, Question, QuestionKind};

/// The form's questions.
///
/// An unknown kind of property is never shown as a known one: the form is refused.
pub(super) fn of(schema: &ElicitationSchema) -> Result<Vec<Question>, Error> {
    let empty = Ordered::new();
    let properties = schema.properties.as_ref().unwrap_or(&empty);
    // The agent decides how many there are of each.
    let required: HashSet<&str> = schema.required.get().into_iter().flatten().map(String::as_str).collect();
    if !required.iter().all(|name| properties.contains(name)) {
        return Err(Error::invalid_params("requestedSchema.required", "names of the form's properties"));
    }
    properties
        .iter()
        .map(|(name, property)| {
            let mut question = match property {
                ElicitationPropertySchema::String(text) => of_text(name, text),
                ElicitationPropertySchema::Number(number) => of_number(name, number),
                ElicitationPropertySchema::Integer(number) => of_integer(name, number),
                ElicitationPropertySchema::Boolean(flag) => Question {
                    default: flag.default.get().map(|default| (*default).into()),
                    ..plain(name, flag.title.get(), flag.description.get(), QuestionKind::Boolean)
                },
                ElicitationPropertySchema::Array(several) => of_several(name, several)?,
                _ => return Err(unsupported(name, "type")),
            };
            question.required = required.contains(name.as_str());
            Ok(question)
        })
        .collect()
}

fn plain(name: &str, title: Option<&String>, description: Option<&String>, kind: QuestionKind) -> Question {
    Question {
        id: name.to_owned(),
        title: title.map_or(name, String::as_str).to_owned(),
        prompt: description.cloned(),
        kind,
        choices: Vec::new(),
        multiple: false,
        required: false,
        default: None,
        limits: AnswerLimits::default(),
    }
}

fn of_text(name: &str, text: &StringPropertySchema) -> Question {
    let kind = match text.format.get() {
        Some(StringFormat::Email) => QuestionKind::Email,
        Some(StringFormat::Uri) => QuestionKind::Uri,
        Some(StringFormat::Date) => QuestionKind::Date,
        Some(StringFormat::DateTime) => QuestionKind::DateTime,
        _ => QuestionKind::Text,
    };
    let mut question = plain(name, text.title.get(), text.description.get(), kind);
    question.choices = match (text.one_of.get(), text.r#enum.get()) {
        (Some(titled), _) => titled.iter().map(choice).collect(),
        (None, Some(values)) => values.iter().map(|value| untitled(value)).collect(),
        (None, None) => Vec::new(),
    };
    question.default = text.default.get().map(|default| default.clone().into());
    question.limits.min_length = text.min_length.get().copied();
    question.limits.max_length = text.max_length.get().copied();
    question.limits.pattern = text.pattern.get().cloned();
    question
}

fn of_number(name: &str, number: &NumberPropertySchema) -> Question {
    let mut question = plain(name, number.title.get(), number.description.get(), QuestionKind::Number);
    question.default = number.default.get().map(|default| (*default).into());
    question.limits.minimum = number.minimum.get().copied();
    question.limits.maximum = number.maximum.get().copied();
    question
}

fn of_integer(name: &str, number: &IntegerPropertySchema) -> Question {
    #[expect(clippy::cast_precision_loss, reason = "a limit beyond 2^53 is as good as its neighbour")]
    let limit = |limit: &i64| *limit as f64;
    let mut question = plain(name, number.title.get(), number.description.get(), QuestionKind::Integer);
    question.default = number.default.get().map(|default| (*default).into());
    question.limits.minimum = number.minimum.get().map(limit);
    question.limits.maximum = number.maximum.get().map(limit);
    question
}

fn of_several(name: &str, several: &MultiSelectPropertySchema) -> Result<Question, Error> {
    let mut question = plain(name, several.title.get(), several.description.get(), QuestionKind::Text);
    question.choices = match &several.items {
        MultiSelectItems::String(items) => items.r#enum.iter().map(|value| untitled(value)).collect(),
        MultiSelectItems::Titled(items) => items.any_of.iter().map(choice).collect(),
        _ => return Err(unsupported(name, "items.type")),
    };
    question.multiple = true;
    question.default =
        several.default.get().map(|default| ElicitationContentValue::StringArray(default.clone()));
    question.limits.min_items = several.min_items.get().copied();
    question.limits.max_items = several.max_items.get().copied();
    Ok(question)
}

fn choice(option: &EnumOption) -> Choice {
    Choice {
        value: option.r#const.clone(),
        title: option.title.clone(),
        description: option.description.get().cloned(),
    }
}

fn untitled(value: &str) -> Choice {
    Choice { value: value.to_owned(), title: value.to_owned(), description: None }
}

fn unsupported(name: &str, member: &str) -> Error {
    Error::invalid_params(format!("requestedSchema.properties.{name}.{member}"), "a type of version 1")
}
