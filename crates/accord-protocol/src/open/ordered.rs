//! An object's members by name, in the order in which they were written: where the order is for people.

use std::{fmt, iter, marker::PhantomData, slice, vec};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

/// An object's members by name, in the order in which they were written.
///
/// A JSON object like any other on the wire. Of members of one name the last one counts, in the place of the first.
#[derive(Clone, PartialEq)]
pub struct Ordered<T> {
    members: Vec<(String, T)>,
    /// The places of the members, by their names.
    by_name: Vec<usize>,
}

impl<T> Ordered<T> {
    /// No members.
    #[must_use]
    pub fn new() -> Self {
        Self { members: Vec::new(), by_name: Vec::new() }
    }

    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let found = self.place(name).ok()?;
        self.by_name.get(found).and_then(|place| self.members.get(*place)).map(|(_, value)| value)
    }

    /// Whether there is a member of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Appends a member, or replaces the value of the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, value: T) {
        let name = name.into();
        match self.place(&name) {
            Ok(found) => self.members[self.by_name[found]].1 = value,
            Err(place) => {
                self.by_name.insert(place, self.members.len());
                self.members.push((name, value));
            }
        }
    }

    /// The members in their order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.members.iter().map(|(name, value)| (name, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.by_name.binary_search_by(|place| self.members[*place].0.as_str().cmp(name))
    }
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Ordered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T, K: Into<String>> FromIterator<(K, T)> for Ordered<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(members: I) -> Self {
        let members: Vec<(String, T)> =
            members.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let mut by_name: Vec<usize> = (0..members.len()).collect();
        // Sorted once, not searched for each: a peer decides how many there are.
        by_name.sort_by(|a, b| members[*a].0.cmp(&members[*b].0));
        if by_name.windows(2).all(|pair| members[pair[0]].0 != members[pair[1]].0) {
            return Self { members, by_name };
        }
        let mut once = Self::new();
        for (name, value) in members {
            once.insert(name, value);
        }
        once
    }
}

impl<T, K: Into<String>, const N: usize> From<[(K, T); N]> for Ordered<T> {
    fn from(members: [(K, T); N]) -> Self {
        members.into_iter().collect()
    }
}

type Iter<'a, T> = iter::Map<slice::Iter<'a, (String, T)>, fn(&'a (String, T)) -> (&'a String, &'a T)>;

impl<'a, T> IntoIterator for &'a Ordered<T> {
    type Item = (&'a String, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Ordered<T> {
    type Item = (String, T);
    type IntoIter = vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut members = Vec::<(String, T)>::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members.into_iter().collect())
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Map_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(members: &Ordered<u8>) -> Vec<&str> {
        members.iter().map(|(name, _)| name.as_str()).collect()
    }

    // ACPX-ELIC-009: a form's fields are asked in the order in which the agent wrote them.
    #[test]
    fn the_order_of_the_wire_is_kept() {
        let text = r#"{"zeta":1,"alpha":2,"mid":3}"#;
        let members: Ordered<u8> = serde_json::from_str(text).unwrap();
        assert_eq!(names(&members), ["zeta", "alpha", "mid"]);
        assert_eq!(serde_json::to_string(&members).unwrap(), text);
        assert_eq!((members.get("alpha"), members.get("beta")), (Some(&2), None));
        assert!(members.contains("mid") && !members.contains(""));
        assert_eq!(members, Ordered::from([("zeta", 1), ("alpha", 2), ("mid", 3)]));
        assert_ne!(members, Ordered::from([("alpha", 2), ("zeta", 1), ("mid", 3)]));
    }

    #[test]
    fn a_name_that_comes_twice_counts_once() {
        let mut members: Ordered<u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(names(&members), ["b", "a"]);
        assert_eq!((members.get("b"), members.get("a")), (Some(&3), Some(&2)));
        members.insert("c", 4);
        members.insert("a", 5);
        assert_eq!(serde_json::to_string(&members).unwrap(), r#"{"b":3,"a":5,"c":4}"#);
        assert_eq!(members.len(), 3);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(serde_json::from_str::<Ordered<u8>>("[1]").is_err());
        assert!(serde_json::from_str::<Ordered<u8>>(r#"{"a":"x"}"#).is_err());
    }
}
