//! Names of members that are known when the crate is compiled.

use serde::{Serialize, Serializer};

/// The name of a member, and the same as it stands in a line: in quotes and with its colon.
///
/// It is written as a unit variant of an enum that is called what stands in the line, which no enum is. Our own encoder
/// copies that as it is, instead of looking for what needs an escape; every other one writes the name.
pub(crate) struct Name {
    pub(crate) plain: &'static str,
    pub(crate) ready: &'static str,
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit_variant(self.ready, 0, self.plain)
    }
}

/// The name of a member, which needs no escapes.
macro_rules! name {
    ($plain:expr) => {
        const {
            const PLAIN: &str = $plain;
            const READY: [u8; PLAIN.len() + 3] = $crate::open::ready(PLAIN);
            match std::str::from_utf8(&READY) {
                Ok(ready) => $crate::open::Name { plain: PLAIN, ready },
                Err(_) => panic!("what was put around the name is text"),
            }
        }
    };
}
pub(crate) use name;

pub(crate) const fn ready<const N: usize>(plain: &str) -> [u8; N] {
    let plain = plain.as_bytes();
    let mut ready = [b'"'; N];
    let mut at = 0;
    while at < plain.len() {
        assert!(plain[at].is_ascii_alphanumeric() || plain[at] == b'_', "a name that needs no escapes");
        ready[at + 1] = plain[at];
        at += 1;
    }
    ready[N - 1] = b':';
    ready
}

#[cfg(test)]
mod tests {
    use serde::ser::SerializeMap;
    use serde_json::{Value, json};

    use super::*;

    struct Object;

    impl Serialize for Object {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry(&name!("a"), &1)?;
            map.serialize_entry(&name!("_meta"), &"x")?;
            map.serialize_entry(&name!("additionalDirectories"), &())?;
            map.end()
        }
    }

    #[test]
    fn every_serializer_writes_the_name() {
        let expected = r#"{"a":1,"_meta":"x","additionalDirectories":null}"#;
        assert_eq!(serde_json::to_string(&Object).ok().as_deref(), Some(expected));
        assert_eq!(
            serde_json::to_value(Object).ok(),
            Some(json!({"a": 1, "_meta": "x", "additionalDirectories": Value::Null}))
        );
        let mut line = Vec::new();
        crate::rpc::write_notification(&mut line, "_x", &Object).expect("it serialises");
        let whole = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":{expected}}}\n");
        assert_eq!(str::from_utf8(&line), Ok(&*whole));
    }
}
