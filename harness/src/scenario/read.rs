//! Reading TOML with errors that name file, line and key, and suggest the near spelling.

use std::ops::Range;

use cc_algos::registry::nearest;
use cc_algos::{Rate, Span};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::ScenarioError;
use super::value::{self, Amount};

/// The text being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) origin: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    /// Reads the whole document as a table.
    pub(super) fn parse(self) -> Result<Spanned<DeTable<'a>>, ScenarioError> {
        DeTable::parse(self.text).map_err(|error| {
            let message = error.message().trim().replace('\n', "; ");
            let fault = ScenarioError::new(self.origin, format!("not valid TOML: {message}"));
            match error.span() {
                Some(span) => fault.at_line(self.line(&span)),
                None => fault,
            }
        })
    }

    fn line(self, span: &Range<usize>) -> usize {
        1 + self.text.bytes().take(span.start).filter(|&byte| byte == b'\n').count()
    }

    pub(super) fn fault(self, key: &str, span: &Range<usize>, message: impl Into<String>) -> ScenarioError {
        let fault = ScenarioError::new(self.origin, message).at_line(self.line(span));
        if key.is_empty() { fault } else { fault.at_key(key) }
    }
}

/// A table being read. Keys that were never asked for are errors.
#[derive(Debug)]
pub(super) struct Section<'a> {
    source: Source<'a>,
    table: &'a DeTable<'a>,
    path: String,
    span: Range<usize>,
    asked: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(super) fn root(source: Source<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self { source, table: table.get_ref(), path: String::new(), span: 0..0, asked: Vec::new() }
    }

    /// The value of an optional key.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<Entry<'a>> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Entry { source: self.source, path: self.join(key), value })
    }

    /// The value of a key that must be there.
    pub(super) fn required(&mut self, key: &'static str) -> Result<Entry<'a>, ScenarioError> {
        if let Some(entry) = self.optional(key) {
            return Ok(entry);
        }
        // A misspelt key explains the missing one better than its absence does.
        for (name, _) in self.table.iter() {
            if nearest(name.get_ref(), [key].into_iter()).is_some() && !self.asked.contains(&name.get_ref().as_ref()) {
                return Err(self.unknown(name));
            }
        }
        Err(self.fault(format!("missing key `{key}`")))
    }

    /// A fault of this table.
    pub(super) fn fault(&self, message: impl Into<String>) -> ScenarioError {
        self.source.fault(&self.path, &self.span, message)
    }

    /// Ends the reading: whatever was not asked for is unknown.
    pub(super) fn finish(self) -> Result<(), ScenarioError> {
        match self.table.keys().find(|name| !self.asked.contains(&name.get_ref().as_ref())) {
            Some(name) => Err(self.unknown(name)),
            None => Ok(()),
        }
    }

    fn unknown(&self, name: &Spanned<toml::de::DeString<'_>>) -> ScenarioError {
        let known = || self.asked.iter().copied();
        let hint = match nearest(name.get_ref(), known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}", known().collect::<Vec<_>>().join(", ")),
        };
        self.source.fault(&self.join(name.get_ref()), &name.span(), format!("unknown key: {hint}"))
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// An optional key read by `read`, or `default`.
    pub(super) fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&Entry<'a>) -> Result<T, ScenarioError>,
    ) -> Result<T, ScenarioError> {
        self.optional(key).map_or(Ok(default), |entry| read(&entry))
    }

    /// An optional key read by `read`.
    pub(super) fn maybe<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Entry<'a>) -> Result<T, ScenarioError>,
    ) -> Result<Option<T>, ScenarioError> {
        self.optional(key).map(|entry| read(&entry)).transpose()
    }
}

/// One value with its place.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    source: Source<'a>,
    path: String,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Entry<'a> {
    /// A fault of this value.
    pub(super) fn fault(&self, message: impl Into<String>) -> ScenarioError {
        self.source.fault(&self.path, &self.value.span(), message)
    }

    fn expected(&self, what: &str) -> ScenarioError {
        let found: String = self.source.text.get(self.value.span()).unwrap_or_default().chars().take(60).collect();
        self.fault(format!("expected {what}, found {}", found.lines().next().unwrap_or_default()))
    }

    /// A string.
    pub(super) fn text(&self) -> Result<&'a str, ScenarioError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.expected("text in quotes")),
        }
    }

    /// A string if that is what it is.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        self.text().ok()
    }

    /// A string that `parse` understands.
    pub(super) fn parsed<T>(&self, what: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, ScenarioError> {
        let text = self.as_text().ok_or_else(|| self.expected(&format!("{what}, in quotes")))?;
        parse(text).ok_or_else(|| self.expected(what))
    }

    /// A time that a run can hold.
    pub(super) fn span(&self) -> Result<Span, ScenarioError> {
        let span = self.parsed("a time such as 100us, 25ms or 1s", value::parse_span)?;
        if span <= value::MAX_SPAN { Ok(span) } else { Err(self.expected(&format!("at most {}", value::MAX_SPAN))) }
    }

    /// A time above zero.
    pub(super) fn positive_span(&self) -> Result<Span, ScenarioError> {
        match self.span()? {
            Span::ZERO => Err(self.expected("a time above zero")),
            span => Ok(span),
        }
    }

    /// A rate above zero.
    pub(super) fn rate(&self) -> Result<Rate, ScenarioError> {
        match self.parsed("a rate such as 10Mbps or 400Gbps", value::parse_rate)? {
            Rate::ZERO => Err(self.expected("a rate above zero")),
            rate => Ok(rate),
        }
    }

    /// A size in bytes above zero.
    pub(super) fn bytes(&self) -> Result<u64, ScenarioError> {
        let what = "a size such as 1500B, 64kB or 1MB";
        let bytes = match self.value.get_ref() {
            DeValue::Integer(_) => self.whole()?,
            _ => self.parsed(what, value::parse_bytes)?,
        };
        if bytes == 0 { Err(self.expected("a size above zero")) } else { Ok(bytes) }
    }

    /// An amount of queue above zero.
    pub(super) fn amount(&self) -> Result<Amount, ScenarioError> {
        self.parsed(value::AMOUNT_EXPECTED, |text| Amount::parse(text).filter(|amount| !amount.is_zero()))
    }

    /// A whole number.
    pub(super) fn whole(&self) -> Result<u64, ScenarioError> {
        let DeValue::Integer(integer) = self.value.get_ref() else {
            return Err(self.expected("a whole number"));
        };
        u64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| self.expected("a whole number from 0"))
    }

    /// A whole number between bounds, both allowed.
    pub(super) fn count(&self, min: u32, max: u32) -> Result<u32, ScenarioError> {
        let count = self.whole()?;
        u32::try_from(count)
            .ok()
            .filter(|count| (min..=max).contains(count))
            .ok_or_else(|| self.expected(&format!("a whole number from {min} to {max}")))
    }

    /// A finite number.
    pub(super) fn number(&self) -> Result<f64, ScenarioError> {
        let number: Option<f64> = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64),
            _ => None,
        };
        number.filter(|number| number.is_finite()).ok_or_else(|| self.expected("a finite number"))
    }

    /// A probability.
    pub(super) fn probability(&self) -> Result<f64, ScenarioError> {
        let within = |probability: &f64| (0.0..=1.0).contains(probability);
        self.number().ok().filter(within).ok_or_else(|| self.expected("a probability from 0 to 1"))
    }

    /// A share above nothing.
    pub(super) fn share(&self) -> Result<f64, ScenarioError> {
        let within = |share: &f64| *share > 0.0 && *share <= 1.0;
        self.number().ok().filter(within).ok_or_else(|| self.expected("a share above 0, at most 1"))
    }

    /// `true` or `false`.
    pub(super) fn switch(&self) -> Result<bool, ScenarioError> {
        match self.value.get_ref() {
            DeValue::Boolean(on) => Ok(*on),
            _ => Err(self.expected("true or false")),
        }
    }

    /// One of the names of `choices`.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, ScenarioError> {
        let text = self.text()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(*choice);
        }
        let names = || choices.iter().map(|(name, _)| *name);
        Err(self.fault(match nearest(text, names()) {
            Some(near) => format!("unknown value `{text}`: did you mean `{near}`?"),
            None => format!("unknown value `{text}`: expected one of {}", names().collect::<Vec<_>>().join(", ")),
        }))
    }

    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    /// A table.
    pub(super) fn section(&self) -> Result<Section<'a>, ScenarioError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Section {
                source: self.source,
                table,
                path: self.path.clone(),
                span: self.value.span(),
                asked: Vec::new(),
            }),
            _ => Err(self.expected("a table")),
        }
    }

    /// The entries of an array.
    pub(super) fn entries(&self) -> Result<Vec<Self>, ScenarioError> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return Err(self.expected("an array"));
        };
        let array: &'a DeArray<'a> = array;
        let entry = |(index, value)| Self { source: self.source, path: format!("{}[{index}]", self.path), value };
        Ok(array.iter().enumerate().map(entry).collect())
    }
}
