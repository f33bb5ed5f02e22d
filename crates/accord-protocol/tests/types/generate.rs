//! Values made from a JSON Schema: minimal ones, and random ones from a seed.

use serde_json::{Map, Value, json};

/// A schema file and a source of chance.
pub(crate) struct Generator<'a> {
    definitions: &'a Value,
    state: u64,
    /// Whether optional members, further variants and odd words are wanted.
    rich: bool,
}

impl<'a> Generator<'a> {
    /// Only what is required, and the first of several variants.
    pub(crate) fn minimal(schema: &'a Value) -> Self {
        Self { definitions: &schema["$defs"], state: 1, rich: false }
    }

    /// Everything there is, by chance.
    pub(crate) fn random(schema: &'a Value, seed: u64) -> Self {
        Self { definitions: &schema["$defs"], state: seed.wrapping_mul(2) | 1, rich: true }
    }

    /// A value of the named definition.
    pub(crate) fn definition(&mut self, name: &str) -> Value {
        let definitions = self.definitions;
        self.value(&definitions[name], 0)
    }

    /// A value that the schema allows.
    pub(crate) fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            let definitions = self.definitions;
            return self.value(&definitions[name], depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let mut variants: Vec<&Value> = ["oneOf", "anyOf"].iter().flat_map(|key| list(schema, key)).collect();
        if !self.rich || depth > 12 {
            variants.truncate(1);
        }
        let variant = (!variants.is_empty()).then(|| variants[self.below(variants.len())]);
        let mut parts: Vec<Value> = Vec::new();
        if let Some(variant) = variant {
            parts.push(self.value(variant, depth + 1));
        }
        for part in list(schema, "allOf") {
            parts.push(self.value(part, depth + 1));
        }
        if let Some(kind) = self.kind(schema) {
            parts.push(self.of_kind(kind, schema, depth));
        }
        merged(parts).unwrap_or_else(|| self.anything())
    }

    fn kind<'s>(&mut self, schema: &'s Value) -> Option<&'s str> {
        match &schema["type"] {
            Value::String(kind) => Some(kind),
            Value::Array(kinds) => {
                let at = if self.rich { self.below(kinds.len()) } else { 0 };
                kinds[at].as_str()
            }
            _ => None,
        }
    }

    fn of_kind(&mut self, kind: &str, schema: &Value, depth: usize) -> Value {
        match kind {
            "object" => self.object(schema, depth),
            "array" => {
                let length = if self.rich && depth < 8 { self.below(3) } else { 0 };
                (0..length).map(|_| self.value(&schema["items"], depth + 1)).collect()
            }
            "string" => self.text(schema),
            "integer" => {
                let most = match schema["format"].as_str() {
                    Some("uint16") => 65_535,
                    Some("int32") => 2_147_483_647,
                    Some("uint32") => 4_294_967_295,
                    _ => 9_007_199_254_740_991_u64,
                };
                [0, 1, 7, most][self.below(4)].into()
            }
            "number" => [json!(0.25), json!(3), json!(-1.5e-7), json!(1e30)][self.below(4)].clone(),
            "boolean" => (self.below(2) == 0).into(),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = self.rich && depth < 10 && self.below(2) == 0;
            if required.contains(&&**name) || wanted {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        if let Some(inner) = schema.get("additionalProperties")
            && self.rich
        {
            let inner = Some(inner).filter(|inner| inner.is_object());
            for _ in 0..self.below(2) {
                let value = inner.map_or(Value::Null, |inner| self.value(inner, depth + 1));
                object.insert(format!("key{}", self.below(9)), value);
            }
        }
        object.into()
    }

    fn text(&mut self, schema: &Value) -> Value {
        if schema["format"] == "uri" {
            return "https://example.com/a?b=c".into();
        }
        // A word that no enum knows, for the variants that take any.
        let texts = ["_custom", "a \"quoted\" text\n\t\\", "Grüße 👋", "plain"];
        let at = if self.rich && schema["title"].is_null() { self.below(texts.len()) } else { 0 };
        texts[at].into()
    }

    fn anything(&mut self) -> Value {
        let values = [json!({ "any": ["thing", 1, null] }), json!("text"), json!(4), json!([true])];
        values[if self.rich { self.below(values.len()) } else { 0 }].clone()
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % limit as u64).expect("it is below a usize")
    }
}

/// Objects become one; of other values the first is taken.
fn merged(parts: Vec<Value>) -> Option<Value> {
    let mut parts = parts.into_iter();
    let mut all = parts.next()?;
    for part in parts {
        if let (Value::Object(all), Value::Object(part)) = (&mut all, part) {
            for (name, value) in part {
                all.entry(name).or_insert(value);
            }
        }
    }
    Some(all)
}

fn list<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    schema[key].as_array().into_iter().flatten()
}
