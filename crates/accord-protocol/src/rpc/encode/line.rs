//! A serializer for one line of JSON in a buffer.
//!
//! It writes what `serde_json` writes, byte for byte, and leaves scalars to it. Strings, which are nearly all of a long
//! line, it writes itself, in half the time.

use serde::ser::{self, Error as _};
use serde::{Serialize, Serializer};
use serde_json::Error;

use super::text;

/// Where a value is written to.
pub(super) struct Line<'o> {
    out: &'o mut Vec<u8>,
    /// Strings are JSON already.
    verbatim: bool,
}

impl<'o> Line<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, verbatim: false }
    }

    fn open(&mut self, open: &str, close: &'static str) -> Items<'_, 'o> {
        self.out.extend_from_slice(open.as_bytes());
        Items { line: self, first: true, raw: false, close }
    }

    /// A variant that is more than a name is an object with one member.
    fn open_variant(&mut self, name: &str, open: &str, close: &'static str) -> Items<'_, 'o> {
        self.out.push(b'{');
        text::write_name(self.out, name);
        self.open(open, close)
    }
}

macro_rules! as_serde_json_does {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            serde_json::Serializer::new(&mut *self.out).$method(value)
        }
    )*};
}

impl<'l, 'o> Serializer for &'l mut Line<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'l, 'o>;
    type SerializeTuple = Items<'l, 'o>;
    type SerializeTupleStruct = Items<'l, 'o>;
    type SerializeTupleVariant = Items<'l, 'o>;
    type SerializeMap = Items<'l, 'o>;
    type SerializeStruct = Items<'l, 'o>;
    type SerializeStructVariant = Items<'l, 'o>;

    as_serde_json_does! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_bytes: &[u8],
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.verbatim {
            write_verbatim(self.out, value);
        } else {
            text::write(self.out, value);
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    /// The name of a member may be ready to be copied.
    fn serialize_unit_variant(self, name: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        if name.len() == variant.len() + 3 && name.starts_with('"') {
            text::write_ready(self.out, name);
            return Ok(());
        }
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let variant = self.open_variant(variant, "", "}");
        value.serialize(&mut *variant.line)?;
        variant.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open_variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open("{", "}"))
    }

    /// A name that no type can have is how raw JSON and numbers of any length make themselves known to `serde_json`:
    /// their one member is a string that is to be written as it is.
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'l, 'o>, Error> {
        if name.starts_with('$') {
            return Ok(Items { line: self, first: true, raw: true, close: "" });
        }
        Ok(self.open("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'l, 'o>, Error> {
        Ok(self.open_variant(variant, "{", "}}"))
    }
}

/// Writes JSON that may have been formatted over several lines. Outside strings a line end is only white space, and
/// inside strings JSON has none.
#[inline(never)]
fn write_verbatim(out: &mut Vec<u8>, json: &str) {
    out.extend(json.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
}

/// The inside of an array or an object.
pub(super) struct Items<'l, 'o> {
    line: &'l mut Line<'o>,
    first: bool,
    /// It is no object: its one member is JSON already.
    raw: bool,
    close: &'static str,
}

impl Items<'_, '_> {
    fn comma(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.line.out.push(b',');
        }
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.comma();
        value.serialize(&mut *self.line)
    }

    /// JSON has no keys but strings: scalars are put in quotes.
    fn key(&mut self, key: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.comma();
        let start = self.line.out.len();
        key.serialize(&mut *self.line)?;
        match self.line.out.get(start..) {
            Some([b'"', .., b':']) => return Ok(()),
            Some([b'"', ..]) => {}
            Some([b'-' | b'0'..=b'9' | b't' | b'f', ..]) => {
                self.line.out.insert(start, b'"');
                self.line.out.push(b'"');
            }
            _ => return Err(Error::custom("a key must be a string")),
        }
        self.line.out.push(b':');
        Ok(())
    }

    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.raw {
            self.line.verbatim = true;
            let written = value.serialize(&mut *self.line);
            self.line.verbatim = false;
            return written;
        }
        self.comma();
        text::write_name(self.line.out, name);
        value.serialize(&mut *self.line)
    }

    fn close(self) {
        self.line.out.extend_from_slice(self.close.as_bytes());
    }
}

macro_rules! arrays {
    ($($trait:ident::$method:ident)*) => {$(
        impl ser::$trait for Items<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

macro_rules! objects {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Items<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

arrays! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

objects! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.line)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    #[derive(Serialize)]
    enum Any<'a> {
        Unit,
        New(&'a str),
        Tuple(u8, i64),
        Struct { a: Option<bool>, b: f64 },
    }

    /// Everything that may be a key.
    #[derive(Serialize)]
    struct Keys<'a> {
        numbers: BTreeMap<i64, u8>,
        truths: BTreeMap<bool, u8>,
        letters: BTreeMap<char, Vec<u8>>,
        texts: BTreeMap<&'a str, &'a str>,
    }

    #[derive(Serialize)]
    struct Whole<'a> {
        any: [Any<'a>; 4],
        scalars: (i8, u64, f32, f64, char, (), Option<u8>, u128, i64),
        keys: Keys<'a>,
        raw: &'a RawValue,
        value: serde_json::Value,
        empty: (Vec<u8>, BTreeMap<u8, u8>, [(); 0]),
        text: &'a str,
    }

    #[test]
    fn it_writes_what_serde_json_writes() {
        let raw: Box<RawValue> = serde_json::from_str(r#"{ "a" : [1, 2.50 ,"\u00e9\n"] }"#).expect("JSON");
        let whole = Whole {
            any: [Any::Unit, Any::New("n\n"), Any::Tuple(1, -2), Any::Struct { a: Some(true), b: f64::NAN }],
            scalars: (-1, u64::MAX, 0.5, 1e300, '"', (), None, u128::MAX, i64::MIN),
            keys: Keys {
                numbers: [(-5, 1), (7, 2)].into(),
                truths: [(true, 1), (false, 0)].into(),
                letters: [('\\', vec![0, 255])].into(),
                texts: [("a\"b", "\t"), ("é", "")].into(),
            },
            raw: &raw,
            value: serde_json::json!({"x": [null, true, 1.5, "s", {}], "": []}),
            empty: (vec![], [].into(), []),
            text: "line\r\n\u{1}\u{7f}end",
        };
        let mut out = Vec::new();
        whole.serialize(&mut Line::new(&mut out)).expect("it serialises");
        let expected = serde_json::to_string(&whole).expect("it serialises");
        assert_eq!(str::from_utf8(&out), Ok(&*expected));
    }

    #[test]
    fn raw_json_becomes_one_line() {
        let raw: Box<RawValue> = serde_json::from_str("{\n\"a\":\r\n1}").expect("JSON");
        let mut out = Vec::new();
        [&raw].serialize(&mut Line::new(&mut out)).expect("it serialises");
        assert_eq!(out, b"[{ \"a\":\r 1}]");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let mut out = Vec::new();
        for odd in [BTreeMap::from([(vec![1], 1)]), BTreeMap::from([(vec![], 1)])] {
            odd.serialize(&mut Line::new(&mut out)).expect_err("an array is no key");
        }
        BTreeMap::from([(None::<u8>, 1)]).serialize(&mut Line::new(&mut out)).expect_err("nor is null");
    }
}
