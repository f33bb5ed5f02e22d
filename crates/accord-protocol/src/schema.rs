//! The JSON Schema of the types, with the same marks of leniency as the official one: from the very declarations that
//! also make the reading code.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::{
    lenient::Slot,
    open::{Json, Maybe, Meta},
    rpc,
    v1::{
        AvailableCommandInput, BlobResourceContents, ElicitationContentValue, ElicitationRequestScope,
        ElicitationScope, ElicitationSessionScope, EmbeddedResourceResource, ExtNotification, ExtRequest,
        ExtResponse, ProtocolVersion, Secret, SessionConfigOptionValue, SessionConfigSelectGroup,
        SessionConfigSelectOption, SessionConfigSelectOptions, SessionConfigValueId, TextResourceContents,
        UnstructuredCommandInput,
    },
};

/// The schema of an object, in the making.
pub(crate) struct Object<'a> {
    generator: &'a mut SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
    inline: Map<String, Value>,
}

impl<'a> Object<'a> {
    pub(crate) fn new(generator: &'a mut SchemaGenerator) -> Self {
        Self { generator, properties: Map::new(), required: Vec::new(), inline: Map::new() }
    }

    pub(crate) fn required<T: JsonSchema>(&mut self, name: &str, mark: &str, doc: &str) {
        let schema = self.generator.subschema_for::<T>();
        self.required.push(name.into());
        self.property(name, schema, mark, doc);
    }

    pub(crate) fn optional<F: Slot<Value: JsonSchema>>(
        &mut self,
        name: &str,
        mark: &str,
        doc: &str,
        default: Option<Value>,
    ) {
        let mut schema = self.generator.subschema_for::<F::Value>();
        if F::NULLABLE {
            schema = nullable(schema);
        }
        if let Some(default) = default {
            let default = self.filled(default, &schema);
            schema.insert("default".into(), default);
        }
        self.property(name, schema, mark, doc);
    }

    /// A union whose members lie in this object.
    pub(crate) fn inline<T: JsonSchema>(&mut self) {
        let mut union = T::json_schema(self.generator);
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = union.remove(key) {
                self.inline.insert(key.to_owned(), variants);
            }
        }
    }

    pub(crate) fn finish(self, doc: &str) -> Schema {
        let mut schema = json_schema!({ "type": "object", "description": tidy(doc) });
        if !self.properties.is_empty() {
            schema.insert("properties".into(), self.properties.into());
        }
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        for (key, variants) in self.inline {
            schema.insert(key, variants);
        }
        schema
    }

    fn property(&mut self, name: &str, mut schema: Schema, mark: &str, doc: &str) {
        match mark {
            "lenient" => {
                schema.insert("x-deserialize-default-on-error".into(), true.into());
                if schema.get("items").is_some() {
                    schema.insert("x-deserialize-skip-invalid-items".into(), true.into());
                }
            }
            "nullable" => {
                schema.insert("x-deserialize-default-on-null".into(), true.into());
            }
            _ => {}
        }
        schema.insert("description".into(), tidy(doc).into());
        self.properties.insert(name.to_owned(), schema.into());
    }

    /// An empty object means the object with all of its own defaults.
    fn filled(&self, default: Value, schema: &Schema) -> Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let definition = name.and_then(|name| self.generator.definitions().get(name));
        let (Some(definition), Value::Object(mut filled)) = (definition, default.clone()) else {
            return default;
        };
        let properties = definition.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if let Some(default) = property.get("default") {
                filled.insert(name.clone(), default.clone());
            }
        }
        filled.into()
    }
}

/// Rustdoc's lines as one text: links lose their brackets.
fn tidy(doc: &str) -> String {
    let lines: Vec<_> = doc.lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}

fn nullable(mut schema: Schema) -> Schema {
    // Any value is `null` too.
    if schema.as_bool() == Some(true) || schema.as_object().is_some_and(Map::is_empty) {
        return schema;
    }
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind, "null"]);
        return schema;
    }
    json_schema!({ "anyOf": [schema, { "type": "null" }] })
}

/// The schema of an enum of words that takes other words too.
pub(crate) fn words(doc: &str, words: &[(&str, &str)]) -> Schema {
    let mut variants: Vec<Value> = words
        .iter()
        .map(|(word, doc)| json!({ "type": "string", "const": word, "description": tidy(doc) }))
        .collect();
    variants
        .push(json!({ "type": "string", "title": "other", "description": "A word of a newer protocol." }));
    json_schema!({ "description": tidy(doc), "anyOf": variants })
}

/// The schema of a union with a tag, in the making.
pub(crate) struct Union<'a> {
    generator: &'a mut SchemaGenerator,
    tag: &'static str,
    variants: Vec<Value>,
    known: Vec<Value>,
    untagged: Option<Value>,
}

impl<'a> Union<'a> {
    pub(crate) fn new(generator: &'a mut SchemaGenerator, tag: &'static str) -> Self {
        Self { generator, tag, variants: Vec::new(), known: Vec::new(), untagged: None }
    }

    fn tagged(&mut self, text: &str, doc: &str) -> Value {
        let tag = json!({
            "type": "object", "properties": { self.tag: { "type": "string", "const": text } }, "required": [self.tag],
        });
        self.known.push(tag.clone());
        let mut variant = tag;
        variant["description"] = tidy(doc).into();
        variant
    }

    pub(crate) fn unit(&mut self, text: &str, doc: &str) {
        let variant = self.tagged(text, doc);
        self.variants.push(variant);
    }

    pub(crate) fn variant<T: JsonSchema>(&mut self, text: &str, doc: &str) {
        let mut variant = self.tagged(text, doc);
        variant["allOf"] = json!([self.generator.subschema_for::<T>()]);
        self.variants.push(variant);
    }

    pub(crate) fn otherwise<T: JsonSchema>(&mut self, title: &str, doc: &str) {
        self.untagged = Some(json!({
            "title": title, "description": tidy(doc), "allOf": [self.generator.subschema_for::<T>()],
            "not": { "type": "object", "required": [self.tag] },
        }));
    }

    pub(crate) fn finish(mut self, doc: &str) -> Schema {
        self.variants.extend(self.untagged);
        self.variants.push(json!({
            "title": "other", "description": "A variant of a newer protocol or of an extension.", "type": "object",
            "properties": { self.tag: { "type": "string" } }, "required": [self.tag], "not": { "anyOf": self.known },
        }));
        json_schema!({ "description": tidy(doc), "anyOf": self.variants })
    }
}

/// Gives a type a schema of its own under its name.
macro_rules! named {
    ($($name:ty = $text:literal, $generator:ident => $schema:expr;)+) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $text.into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+};
}

named! {
    ProtocolVersion = "ProtocolVersion", _generator => json_schema!({
        "type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535,
    });
    rpc::Id = "RequestId", _generator => json_schema!({
        "anyOf": [
            { "title": "Null", "type": "null" },
            { "title": "Number", "type": "integer", "format": "int64" },
            { "title": "Str", "type": "string" },
        ],
    });
    rpc::ErrorCode = "ErrorCode", _generator => error_codes();
    rpc::Error = "Error", generator => json_schema!({
        "type": "object",
        "properties": {
            "code": generator.subschema_for::<rpc::ErrorCode>(),
            "message": { "type": "string" },
            "data": { "x-deserialize-default-on-error": true },
        },
        "required": ["code", "message"],
    });
    ExtRequest = "ExtRequest", _generator => json_schema!({});
    ExtNotification = "ExtNotification", _generator => json_schema!({});
    ExtResponse = "ExtResponse", _generator => json_schema!({});
    EmbeddedResourceResource = "EmbeddedResourceResource", generator => json_schema!({
        "anyOf": [
            generator.subschema_for::<TextResourceContents>(),
            generator.subschema_for::<BlobResourceContents>(),
        ],
    });
    AvailableCommandInput = "AvailableCommandInput", generator => json_schema!({
        "anyOf": [
            { "title": "unstructured", "allOf": [generator.subschema_for::<UnstructuredCommandInput>()] },
            { "title": "other", "type": "object" },
        ],
    });
    SessionConfigSelectOptions = "SessionConfigSelectOptions", generator => json_schema!({
        "anyOf": [
            { "title": "Ungrouped", "type": "array", "items": generator.subschema_for::<SessionConfigSelectOption>() },
            { "title": "Grouped", "type": "array", "items": generator.subschema_for::<SessionConfigSelectGroup>() },
        ],
    });
    SessionConfigOptionValue = "SessionConfigOptionValue", generator => json_schema!({
        "anyOf": [
            {
                "type": "object",
                "properties": { "type": { "type": "string", "const": "boolean" }, "value": { "type": "boolean" } },
                "required": ["type", "value"],
            },
            {
                "title": "value_id", "type": "object",
                "properties": { "value": generator.subschema_for::<SessionConfigValueId>() },
                "required": ["value"],
            },
            {
                "title": "other", "type": "object",
                "properties": { "type": { "type": "string" } }, "required": ["type"],
            },
        ],
    });
    ElicitationScope = "ElicitationScope", generator => json_schema!({
        "anyOf": [
            { "title": "Session", "allOf": [generator.subschema_for::<ElicitationSessionScope>()] },
            { "title": "Request", "allOf": [generator.subschema_for::<ElicitationRequestScope>()] },
        ],
    });
    ElicitationContentValue = "ElicitationContentValue", _generator => json_schema!({
        "anyOf": [
            { "title": "String", "type": "string" },
            { "title": "Integer", "type": "integer", "format": "int64" },
            { "title": "Number", "type": "number", "format": "double" },
            { "title": "Boolean", "type": "boolean" },
            { "title": "StringArray", "type": "array", "items": { "type": "string" } },
        ],
    });
}

fn error_codes() -> Schema {
    let known = [
        ("Parse error", rpc::ErrorCode::PARSE_ERROR),
        ("Invalid request", rpc::ErrorCode::INVALID_REQUEST),
        ("Method not found", rpc::ErrorCode::METHOD_NOT_FOUND),
        ("Invalid params", rpc::ErrorCode::INVALID_PARAMS),
        ("Internal error", rpc::ErrorCode::INTERNAL_ERROR),
        ("Request cancelled", rpc::ErrorCode::REQUEST_CANCELLED),
        ("Authentication required", rpc::ErrorCode::AUTH_REQUIRED),
        ("Resource not found", rpc::ErrorCode::RESOURCE_NOT_FOUND),
    ];
    let mut codes: Vec<Value> = known
        .iter()
        .map(|(title, code)| json!({ "title": title, "type": "integer", "format": "int32", "const": code.0 }))
        .collect();
    codes.push(json!({ "title": "Other", "type": "integer" }));
    json_schema!({ "anyOf": codes })
}

/// Gives a type a schema that stands wherever the type does, without a name.
macro_rules! inline {
    ($($name:ty => $schema:tt;)+) => {$(
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

inline! {
    Json => {};
    Meta => { "type": "object", "additionalProperties": true };
    Secret => { "type": "string" };
}

impl<T: JsonSchema> JsonSchema for Maybe<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Maybe_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        nullable(generator.subschema_for::<T>())
    }
}
