//! Columns and rows on their way into a file, the same for CSV, JSON and Parquet.

use super::unit;

/// What the fields of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers.
    Integer,
    /// Decimal numbers.
    Decimal,
    /// Yes or no.
    Flag,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its fields are.
    pub kind: Kind,
}

impl Column {
    pub(crate) fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Text }
    }

    pub(crate) fn integer(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Integer }
    }

    pub(crate) fn decimal(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Decimal }
    }

    pub(crate) fn flag(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Flag }
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// Nothing was measured, or nothing is known.
    Empty,
    /// Text.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A decimal number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

impl Field {
    /// `raw / scale`: the real number nearest to the exact decimal, so that it prints as that.
    pub(crate) fn decimal(raw: u64, scale: u64) -> Self {
        // Parsing rounds correctly, which a division of rounded numbers need not.
        unit::decimal(raw, scale).parse().map_or(Self::Empty, Self::Real)
    }

    /// As text: nothing, or what `parse` reads back to the same value.
    pub fn to_text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

/// Columns and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with one field per column.
    pub rows: Vec<Vec<Field>>,
}
