//! JSON as this format reads it: no repeated keys, and faults located by byte.
//!
//! Owns the strict parsing that manifest and origin share. Must not know their keys. Invariant: a text that
//! passes has one meaning for every JSON reader. Format text: `FORMAT.md`, "JSON files".

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{FormatError, Region, SharedError, Site};
use crate::files::CacheFile;

/// A value that has to be a JSON object: a derived reader alone would take an array of the fields as well.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Object)
    }
}

/// Reads an object of known shape from a text without repeated keys. Unknown keys are ignored.
pub(crate) fn decode_json<T: DeserializeOwned>(
    file: CacheFile,
    text: &[u8],
) -> Result<T, FormatError> {
    let outcome = serde_json::from_slice::<Object<T>>(text);
    outcome
        .map(|object| object.0)
        .map_err(|error| malformed(file, text, error))
}

/// Refuses text that is not JSON or that has a key twice in one object, at any depth.
pub(crate) fn check_json(file: CacheFile, text: &[u8]) -> Result<(), FormatError> {
    let repeated = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let outcome = Scan {
        repeated: &repeated,
    }
    .deserialize(&mut reader)
    .and_then(|()| reader.end());
    outcome.map_err(|error| match repeated.take() {
        Some(key) => FormatError::RepeatedKey {
            site: site(file, text, &error),
            key,
        },
        None => malformed(file, text, error),
    })
}

fn malformed(file: CacheFile, text: &[u8], error: serde_json::Error) -> FormatError {
    let site = site(file, text, &error);
    FormatError::Malformed {
        site,
        what: "JSON",
        source: Arc::new(error) as SharedError,
    }
}

/// Turns line and column into a byte offset.
fn site(file: CacheFile, text: &[u8], error: &serde_json::Error) -> Site {
    let before = text
        .split_inclusive(|byte| *byte == b'\n')
        .take(error.line().saturating_sub(1));
    let offset = before.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    Site::new(file, Region::Json, offset.min(text.len()) as u64)
}

/// Walks a value and keeps nothing but the keys of open objects.
#[derive(Clone, Copy)]
struct Scan<'a> {
    repeated: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Scan<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if seen.contains(&key) {
                self.repeated.replace(Some(key));
                return Err(A::Error::custom("repeated key"));
            }
            seen.insert(key);
            entries.next_value_seed(self)?;
        }
        Ok(())
    }
}
