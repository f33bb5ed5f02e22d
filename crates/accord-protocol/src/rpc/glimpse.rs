//! A look at the beginning of a line that cannot be read to its end.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::rpc::Id;
use crate::rpc::envelope::{Key, LenientId, Member};

/// The members that could be seen before the line broke off.
#[derive(Debug, Default)]
pub(crate) struct Glimpse {
    pub(crate) id: Option<Id>,
    pub(crate) method: bool,
    pub(crate) response: bool,
}

impl Glimpse {
    pub(crate) fn of(start: &[u8]) -> Self {
        let mut seen = Self::default();
        let text = match str::from_utf8(start) {
            Ok(text) => text,
            Err(error) => str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        };
        // It fails where the line breaks off; what came before is what counts.
        let _ = Look(&mut seen).deserialize(&mut serde_json::Deserializer::from_str(text));
        seen
    }
}

struct Look<'a>(&'a mut Glimpse);

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Id => {
                    if let Member::Is(id) = map.next_value::<LenientId>()?.0 {
                        self.0.id = Some(id);
                    }
                    continue;
                }
                Key::Method => self.0.method = true,
                Key::Result | Key::Error => self.0.response = true,
                Key::Jsonrpc | Key::Params | Key::Other => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
