//! Whether the values a client sent fit the form it was given.

use std::collections::BTreeMap;

use accord_protocol::{
    open::Ordered,
    v1::{
        ElicitationContentValue as Value, ElicitationPropertySchema as Property, ElicitationSchema,
        EnumOption, MultiSelectItems, MultiSelectPropertySchema, StringPropertySchema,
    },
};
use regex_lite::Regex;

/// The name of the first field whose pattern cannot be checked here: no values could be promised to match it.
pub(super) fn readable(schema: &ElicitationSchema) -> Result<(), String> {
    let unreadable = schema.properties.iter().flatten().find(|(_, property)| match property {
        Property::String(text) => text.pattern.get().is_some_and(|pattern| Regex::new(pattern).is_err()),
        _ => false,
    });
    unreadable.map_or(Ok(()), |(name, _)| Err(name.clone()))
}

/// Numbers without a fraction are integers where the schema wants integers, however they are written: `3.0` is 3.
pub(super) fn as_integers(schema: &ElicitationSchema, values: &mut BTreeMap<String, Value>) {
    let properties = schema.properties.iter().flatten();
    for (name, _) in properties.filter(|(_, property)| matches!(property, Property::Integer(_))) {
        if let Some(value) = values.get_mut(name)
            && let Value::Number(number) = value
            && let Some(whole) = whole(*number)
        {
            *value = Value::Integer(whole);
        }
    }
}

/// Beyond this, a double does not say which integer it stands for.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[expect(clippy::cast_possible_truncation, reason = "it has no fraction, and is in the range of both")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// The name of the first field that does not fit. Formats are the client's business: it told the person.
pub(super) fn check(schema: &ElicitationSchema, values: &BTreeMap<String, Value>) -> Result<(), String> {
    let none = Ordered::new();
    let properties = schema.properties.as_ref().unwrap_or(&none);
    let missing = schema.required.get().into_iter().flatten().find(|name| !values.contains_key(*name));
    if let Some(name) = missing {
        return Err(name.clone());
    }
    let misfit = values
        .iter()
        .find(|(name, value)| !properties.get(name).is_some_and(|property| fits(property, value)));
    misfit.map_or(Ok(()), |(name, _)| Err(name.clone()))
}

fn fits(property: &Property, value: &Value) -> bool {
    match (property, value) {
        (Property::String(schema), Value::String(text)) => string_fits(schema, text),
        (Property::Integer(schema), Value::Integer(number)) => {
            schema.minimum.get().is_none_or(|least| number >= least)
                && schema.maximum.get().is_none_or(|most| number <= most)
        }
        (Property::Number(schema), Value::Number(_) | Value::Integer(_)) => {
            let number = as_number(value);
            schema.minimum.get().is_none_or(|least| number >= *least)
                && schema.maximum.get().is_none_or(|most| number <= *most)
        }
        (Property::Array(schema), Value::StringArray(chosen)) => choices_fit(schema, chosen),
        // Of a property of a later protocol nothing is known.
        (Property::Boolean(_), Value::Boolean(_)) | (Property::Unknown(_), _) => true,
        _ => false,
    }
}

fn string_fits(schema: &StringPropertySchema, text: &str) -> bool {
    let length = text.chars().count();
    let within = |bound: Option<&u32>, test: fn(usize, usize) -> bool| {
        bound.is_none_or(|bound| usize::try_from(*bound).is_ok_and(|bound| test(length, bound)))
    };
    within(schema.min_length.get(), |length, least| length >= least)
        && within(schema.max_length.get(), |length, most| length <= most)
        && schema.pattern.get().is_none_or(|pattern| matches(pattern, text))
        && schema.r#enum.get().is_none_or(|choices| choices.iter().any(|choice| choice == text))
        && schema.one_of.get().is_none_or(|choices| offers(choices, text))
}

/// A pattern is looked for anywhere in the text unless it is anchored, as JSON Schema has it.
fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

fn choices_fit(schema: &MultiSelectPropertySchema, chosen: &[String]) -> bool {
    let count = chosen.len() as u64;
    let offered = |choice: &String| match &schema.items {
        MultiSelectItems::String(items) => items.r#enum.contains(choice),
        MultiSelectItems::Titled(items) => offers(&items.any_of, choice),
        _ => true,
    };
    schema.min_items.get().is_none_or(|least| count >= *least)
        && schema.max_items.get().is_none_or(|most| count <= *most)
        && chosen.iter().all(offered)
}

fn offers(choices: &[EnumOption], text: &str) -> bool {
    choices.iter().any(|choice| choice.r#const == text)
}

#[expect(clippy::cast_precision_loss, reason = "bounds of a number are doubles too")]
fn as_number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Integer(number) => *number as f64,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use accord_protocol::v1::{ElicitationSchema, IntegerPropertySchema, StringPropertySchema};

    use super::{BTreeMap, Ordered, Value, as_integers, check, readable};

    fn form(pattern: &str) -> ElicitationSchema {
        let mut field = StringPropertySchema::new();
        field.pattern = pattern.to_owned().into();
        ElicitationSchema::new().properties(Ordered::from([("f".to_owned(), field.into())]))
    }

    // ACPX-ELIC-010
    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        let field = IntegerPropertySchema::new().minimum(2).maximum(4);
        let form = ElicitationSchema::new().properties(Ordered::from([("f".to_owned(), field.into())]));
        let answer = |value: &str| {
            let mut values = serde_json::from_str(&format!("{{\"f\":{value}}}")).expect("JSON");
            as_integers(&form, &mut values);
            check(&form, &values).map(|()| values["f"].clone())
        };
        for value in ["3", "3.0", "30e-1"] {
            assert_eq!(answer(value), Ok(Value::Integer(3)), "{value}");
        }
        for value in ["3.5", "5.0", "1e300", "\"3\""] {
            assert_eq!(answer(value), Err("f".to_owned()), "{value}");
        }
    }

    // ACPX-ELIC-010
    #[test]
    fn a_pattern_is_found_anywhere_unless_it_is_anchored() {
        for (pattern, fitting, other) in [
            ("a+", "xaay", "xyz"),
            ("^a+$", "aa", "xaa"),
            ("^a", "ab", "ba"),
            ("a$", "ba", "a\n"),
            ("^$", "", " "),
            ("^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$", "a.b@c.org", "a@c"),
            // Characters are counted, not bytes.
            ("^.{3}$", "é😀ß", "é😀"),
            ("^[а-я]+$", "привет", "hello"),
            ("^\\u00e9$", "é", "e"),
            ("^\\d\\w\\/$", "1a/", "١a/"),
        ] {
            let form = form(pattern);
            assert_eq!(readable(&form), Ok(()), "{pattern}");
            let values = |text: &str| BTreeMap::from([("f".to_owned(), Value::String(text.to_owned()))]);
            assert_eq!(check(&form, &values(fitting)), Ok(()), "{pattern} {fitting:?}");
            assert_eq!(check(&form, &values(other)), Err("f".to_owned()), "{pattern} {other:?}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_checked_is_told_before_anything_is_sent() {
        for pattern in ["(", "[a", "*", "a{2,1}", "(?=a)", "(a)\\1", "\\p{L}+", "a{1000000}{1000000}"] {
            assert_eq!(readable(&form(pattern)), Err("f".to_owned()), "{pattern}");
        }
    }
}
