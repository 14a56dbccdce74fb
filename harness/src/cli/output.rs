//! What goes to people and pipes.

use std::io::{ErrorKind, Write};

use super::error::CliError;

/// Writes to stdout. A reader that has gone away, such as `head`, is no error.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr. Nobody can be told if that fails.
pub(super) fn note(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// Rows of cells in columns as wide as their widest cell.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let rows = [vec!["a".into(), "first".into()], vec!["long".into(), "b".into()], vec!["c".into()]];
        assert_eq!(columns(&rows), "a     first\nlong  b\nc\n");
    }
}
