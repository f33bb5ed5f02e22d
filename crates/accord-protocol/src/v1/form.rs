//! The form of an elicitation: a small part of JSON Schema, and the values that fill it.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};

use crate::{
    lenient::Lenient,
    open::{Maybe, Ordered, from, record, strings, tagged},
};

record! {
    /// A form: an object whose properties are its fields.
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub struct ElicitationSchema {
        optional {
            /// The schema's type, which is always `object`.
            lenient r#type: Option<ElicitationSchemaType> = "object",
            /// The form's heading, for people.
            lenient title: Maybe<String>,
            /// What the form is for, for people.
            lenient description: Maybe<String>,
            /// The fields by their names, in the order in which a person is to see them.
            strict properties: Option<Ordered<ElicitationPropertySchema>> = {},
            /// The names of the fields that must be filled in.
            strict required: Maybe<Vec<String>>,
        }
    }
}

strings! {
    /// The type of a form.
    pub enum ElicitationSchemaType {
        /// An object.
        Object = "object",
    }
}

tagged! {
    /// A field of a form.
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub enum ElicitationPropertySchema by "type" {
        /// A text, or one of several.
        "string" => String(StringPropertySchema),
        /// A number.
        "number" => Number(NumberPropertySchema),
        /// A whole number.
        "integer" => Integer(IntegerPropertySchema),
        /// Yes or no.
        "boolean" => Boolean(BooleanPropertySchema),
        /// Some of several.
        "array" => Array(MultiSelectPropertySchema),
    }
}

from!(ElicitationPropertySchema {
    String(StringPropertySchema),
    Number(NumberPropertySchema),
    Integer(IntegerPropertySchema),
    Boolean(BooleanPropertySchema),
    Array(MultiSelectPropertySchema),
});

record! {
    /// A field for a text, or for one of several where `enum` or `oneOf` is there.
    pub struct StringPropertySchema {
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it means, for people.
            lenient description: Maybe<String>,
            /// The fewest characters.
            strict min_length: Maybe<u32>,
            /// The most characters.
            strict max_length: Maybe<u32>,
            /// A regular expression that the text must match.
            strict pattern: Maybe<String>,
            /// What the text must be.
            strict format: Maybe<StringFormat>,
            /// What it is unless changed.
            lenient default: Maybe<String>,
            /// The texts to choose from.
            strict r#enum: Maybe<Vec<String>>,
            /// The texts to choose from, with what to call them.
            strict one_of: Maybe<Vec<EnumOption>>,
        }
    }
}

strings! {
    /// What a text must be.
    pub enum StringFormat {
        /// An address for e-mail.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and time.
        DateTime = "date-time",
    }
}

record! {
    /// A text to choose, and what to call it.
    pub struct EnumOption {
        required {
            /// The text.
            strict r#const: String,
            /// What to call it, for people.
            strict title: String,
        }
        optional {
            /// What it means, for people.
            lenient description: Maybe<String>,
        }
    }
}

record! {
    /// A field for a number.
    pub struct NumberPropertySchema {
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it means, for people.
            lenient description: Maybe<String>,
            /// The least.
            strict minimum: Maybe<f64>,
            /// The greatest.
            strict maximum: Maybe<f64>,
            /// What it is unless changed.
            lenient default: Maybe<f64>,
        }
    }
}

record! {
    /// A field for a whole number.
    pub struct IntegerPropertySchema {
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it means, for people.
            lenient description: Maybe<String>,
            /// The least.
            strict minimum: Maybe<i64>,
            /// The greatest.
            strict maximum: Maybe<i64>,
            /// What it is unless changed.
            lenient default: Maybe<i64>,
        }
    }
}

record! {
    /// A field for yes or no.
    pub struct BooleanPropertySchema {
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it means, for people.
            lenient description: Maybe<String>,
            /// What it is unless changed.
            lenient default: Maybe<bool>,
        }
    }
}

record! {
    /// A field for some of several texts.
    pub struct MultiSelectPropertySchema {
        required {
            /// The texts to choose from.
            strict items: MultiSelectItems,
        }
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it means, for people.
            lenient description: Maybe<String>,
            /// The fewest to choose.
            strict min_items: Maybe<u64>,
            /// The most to choose.
            strict max_items: Maybe<u64>,
            /// What is chosen unless changed.
            lenient default: Maybe<Vec<String>>,
        }
    }
}

tagged! {
    /// The texts of a multi-select.
    pub enum MultiSelectItems by "type" {
        /// The texts alone.
        "string" => String(StringMultiSelectItems),
        else =>
        /// The texts with what to call them; these have no `type`.
        Titled(TitledMultiSelectItems),
    }
}

from!(MultiSelectItems {
    String(StringMultiSelectItems),
    Titled(TitledMultiSelectItems),
});

record! {
    /// Texts to choose from.
    pub struct StringMultiSelectItems {
        required {
            /// The texts.
            strict r#enum: Vec<String>,
        }
    }
}

record! {
    /// Texts to choose from, with what to call them.
    pub struct TitledMultiSelectItems {
        required {
            /// The texts.
            strict any_of: Vec<EnumOption>,
        }
    }
}

/// What a field of a form was filled with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationContentValue {
    /// A text.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// The texts chosen.
    StringArray(Vec<String>),
}

from!(ElicitationContentValue {
    String(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    StringArray(Vec<String>),
});

impl From<&str> for ElicitationContentValue {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl Serialize for ElicitationContentValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => serializer.serialize_str(text),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::StringArray(texts) => texts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitationContentValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentValue;

        impl<'de> Visitor<'de> for ContentValue {
            type Value = ElicitationContentValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, a boolean or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(text.into())
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(number.into())
            }

            #[expect(
                clippy::cast_precision_loss,
                reason = "beyond 64 bits with a sign, a number is a double"
            )]
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(i64::try_from(number).map_or(ElicitationContentValue::Number(number as f64), Into::into))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(number.into())
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(value.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(items)).map(Self::Value::StringArray)
            }
        }

        deserializer.deserialize_any(ContentValue)
    }
}

impl Lenient for ElicitationContentValue {}
