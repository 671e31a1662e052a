//! The four types of metadata and their values.
//!
//! Owns type names and values. Must not convert between types: a bool is not an integer, an integer is not a
//! float. Invariant: a float keeps its bits, NaN payloads included. Format text: `FORMAT.md`, "metadata.arrow".

use std::borrow::Cow;
use std::fmt;

use arrow_schema::DataType;

/// Type of a metadata column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetadataType {
    /// True or false.
    Bool,
    /// A signed 64-bit integer.
    Int64,
    /// An IEEE 754 double.
    Float64,
    /// UTF-8 text.
    String,
}

impl MetadataType {
    /// The name in a manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::String => "string",
        }
    }

    /// The type of a name; `None` where format 1 has none.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "bool" => Some(Self::Bool),
            "int64" => Some(Self::Int64),
            "float64" => Some(Self::Float64),
            "string" => Some(Self::String),
            _ => None,
        }
    }

    /// The Arrow type of a column.
    pub const fn arrow_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::String => DataType::LargeUtf8,
        }
    }
}

impl fmt::Display for MetadataType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A metadata value that owns its text.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValue {
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Int64(i64),
    /// An IEEE 754 double.
    Float64(f64),
    /// UTF-8 text.
    String(String),
}

impl MetadataValue {
    /// Its type.
    pub const fn value_type(&self) -> MetadataType {
        match self {
            Self::Bool(_) => MetadataType::Bool,
            Self::Int64(_) => MetadataType::Int64,
            Self::Float64(_) => MetadataType::Float64,
            Self::String(_) => MetadataType::String,
        }
    }

    /// The same value, borrowed.
    pub fn as_ref(&self) -> MetadataValueRef<'_> {
        match self {
            Self::Bool(value) => MetadataValueRef::Bool(*value),
            Self::Int64(value) => MetadataValueRef::Int64(*value),
            Self::Float64(value) => MetadataValueRef::Float64(*value),
            Self::String(value) => MetadataValueRef::String(Cow::Borrowed(value)),
        }
    }
}

/// A metadata value whose text may be borrowed: from the caller's row, or from a mapped file.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValueRef<'a> {
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Int64(i64),
    /// An IEEE 754 double.
    Float64(f64),
    /// UTF-8 text.
    String(Cow<'a, str>),
}

impl MetadataValueRef<'_> {
    /// Its type.
    pub const fn value_type(&self) -> MetadataType {
        match self {
            Self::Bool(_) => MetadataType::Bool,
            Self::Int64(_) => MetadataType::Int64,
            Self::Float64(_) => MetadataType::Float64,
            Self::String(_) => MetadataType::String,
        }
    }

    /// The same value, owning its text.
    pub fn into_owned(self) -> MetadataValue {
        match self {
            Self::Bool(value) => MetadataValue::Bool(value),
            Self::Int64(value) => MetadataValue::Int64(value),
            Self::Float64(value) => MetadataValue::Float64(value),
            Self::String(value) => MetadataValue::String(value.into_owned()),
        }
    }
}

impl<'a> From<&'a str> for MetadataValueRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}
