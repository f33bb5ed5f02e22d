//! Whether the values a client sent fit the form it was given.

use std::collections::BTreeMap;

use accord_protocol::v1::{
    ElicitationContentValue as Value, ElicitationPropertySchema as Property, ElicitationSchema, EnumOption,
    MultiSelectItems, MultiSelectPropertySchema, StringPropertySchema,
};

/// The name of the first field that does not fit. Patterns and formats are the client's business: it told the person.
pub(super) fn check(schema: &ElicitationSchema, values: &BTreeMap<String, Value>) -> Result<(), String> {
    let none = BTreeMap::new();
    let properties = schema.properties.as_ref().unwrap_or(&none);
    let missing = schema.required.get().into_iter().flatten().find(|name| !values.contains_key(*name));
    if let Some(name) = missing {
        return Err(name.clone());
    }
    let misfit = values
        .iter()
        .find(|(name, value)| !properties.get(*name).is_some_and(|property| fits(property, value)));
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
        && schema.r#enum.get().is_none_or(|choices| choices.iter().any(|choice| choice == text))
        && schema.one_of.get().is_none_or(|choices| offers(choices, text))
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
