//! The page: one file without a single request, light and dark, drawn here as SVG. Scripts only sort tables and switch the theme.

pub(crate) mod figure;
mod overview;
mod page;
mod palette;
mod scatter;
pub(crate) mod series;
mod table;
mod tail;

use std::fmt::Write as _;

pub use page::{Page, ScenarioNote, to_html};

/// Text made safe for element content and quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Not allowed in HTML even as references.
            control if control.is_control() && !matches!(control, '\n' | '\t') => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A name as an anchor: letters and digits, everything else as its code.
fn anchor(name: &str) -> String {
    let mut id = String::from("s-");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            id.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            let _ = write!(id, "_{byte:02x}");
        }
    }
    id
}

#[cfg(test)]
mod tests;
