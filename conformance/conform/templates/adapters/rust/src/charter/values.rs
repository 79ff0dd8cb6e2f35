//! Values of the charter's types as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The number in an argument that asks for one which the implementation never allotted.
pub const NEVER_ISSUED: i64 = 999_999_999;

/// The same for a text.
pub const NEVER_ISSUED_TEXT: &str = "never issued";

/// A set; as JSON it is sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set<T>(pub BTreeSet<T>);

impl<T> Default for Set<T> {
    fn default() -> Self {
        Set(BTreeSet::new())
    }
}

impl<T> Deref for Set<T> {
    type Target = BTreeSet<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for Set<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Set(items.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Set<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sorted(self.0.iter())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for Set<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<T>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// A map whose keys are neither names nor truth values; as JSON it is an array of pairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pairs<K, V>(pub BTreeMap<K, V>);

impl<K, V> Default for Pairs<K, V> {
    fn default() -> Self {
        Pairs(BTreeMap::new())
    }
}

impl<K, V> Deref for Pairs<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<K, V> DerefMut for Pairs<K, V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Pairs<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Pairs(entries.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sorted(self.0.iter())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de, K, V> Deserialize<'de> for Pairs<K, V>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

/// A counter.
pub mod counter {
    use super::*;

    pub fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        number.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        read(deserializer, NEVER_ISSUED)
    }
}

/// A number that the implementation allots: `"@7"`.
pub mod opaque_counter {
    use super::*;

    pub fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("@{number}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        let text = read(deserializer, format!("@{NEVER_ISSUED}"))?;
        let digits = text.strip_prefix('@').unwrap_or(&text);
        digits.parse().map_err(serde::de::Error::custom)
    }
}

/// A text that the implementation allots: `"~text"`.
pub mod opaque {
    use super::*;

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("~{text}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        let text = read(deserializer, format!("~{NEVER_ISSUED_TEXT}"))?;
        Ok(text.strip_prefix('~').unwrap_or(&text).to_string())
    }
}

/// Reads a value, or a wish for one that was never issued.
fn read<'de, D, T>(deserializer: D, never_issued: T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Value::deserialize(deserializer)?;
    if value.get("never_issued").is_some() {
        return Ok(never_issued);
    }
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

/// The items as JSON, in canonical order.
fn sorted<T: Serialize>(items: impl Iterator<Item = T>) -> serde_json::Result<Vec<Value>> {
    let mut values = items
        .map(serde_json::to_value)
        .collect::<Result<Vec<_>, _>>()?;
    values.sort_by_cached_key(|value| order_key(&value.to_string()));
    Ok(values)
}

/// What sets and maps are sorted by: in canonical text, `"@9"` comes before `"@10"`.
fn order_key(text: &str) -> String {
    let mut key = String::new();
    for (position, part) in text.split('"').enumerate() {
        if position > 0 {
            key.push('"');
        }
        match part.strip_prefix('@').map(str::parse::<i128>) {
            Some(Ok(number)) => key += &format!("@{:021}", number + 10_i128.pow(20)),
            _ => key += part,
        }
    }
    key
}
