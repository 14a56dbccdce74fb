//! CSV and JSON of a [`Grid`].

use serde_json::{Map, Number, Value};

use super::FormatError;
use crate::measure::{Field, Grid};

/// CSV with a header line; nothing stands for what was not measured.
///
/// # Errors
/// If a row has not one field per column.
pub fn to_csv(grid: &Grid) -> Result<Vec<u8>, FormatError> {
    let failed = FormatError::new("CSV");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(grid.columns.iter().map(|column| &column.name)).map_err(|error| failed(&error))?;
    for row in &grid.rows {
        writer.write_record(row.iter().map(Field::to_text)).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(&error))
}

/// A JSON array with an object per row, one row a line; `null` stands for what was not measured.
pub fn to_json(grid: &Grid) -> String {
    let rows: Vec<String> = grid.rows.iter().map(|row| json_row(grid, row).to_string()).collect();
    if rows.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", rows.join(",\n")) }
}

fn json_row(grid: &Grid, row: &[Field]) -> Value {
    let fields = grid.columns.iter().zip(row).map(|(column, field)| (column.name.clone(), json_field(field)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn json_field(field: &Field) -> Value {
    match field {
        Field::Empty => Value::Null,
        Field::Text(text) => Value::String(text.clone()),
        Field::Integer(number) => Value::from(*number),
        Field::Real(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Field::Flag(flag) => Value::Bool(*flag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Kind, Table, TableOptions, testing};

    pub(crate) fn grid() -> Grid {
        let mut records = Vec::new();
        for seed in 1..=6 {
            records.push(testing::run("lte \"down\", 1", "cubic?beta=0.5", seed));
            records.push(testing::run_scaled("lte \"down\", 1", "dctcp", seed, 80));
        }
        Table::build(&records, &TableOptions::default()).unwrap().grid()
    }

    /// What a CSV field says, read as its column's kind.
    fn parse(text: &str, kind: Kind) -> Value {
        match kind {
            _ if text.is_empty() => Value::Null,
            Kind::Text => Value::from(text),
            Kind::Integer => Value::from(text.parse::<u64>().unwrap()),
            Kind::Decimal => Value::from(text.parse::<f64>().unwrap()),
            Kind::Flag => Value::from(text.parse::<bool>().unwrap()),
        }
    }

    #[test]
    fn csv_and_json_say_the_same() {
        let grid = grid();
        let csv = to_csv(&grid).unwrap();
        let json: Vec<Map<String, Value>> = serde_json::from_str(&to_json(&grid)).unwrap();
        let mut reader = csv::Reader::from_reader(csv.as_slice());
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(names.len(), grid.columns.len());
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(rows.len(), json.len());
        for (row, object) in rows.iter().zip(&json) {
            for ((name, column), text) in names.iter().zip(&grid.columns).zip(row) {
                let json = if object[name].is_number() && column.kind == Kind::Decimal {
                    Value::from(object[name].as_f64())
                } else {
                    object[name].clone()
                };
                assert_eq!(parse(text, column.kind), json, "{name}");
            }
        }
    }

    #[test]
    fn no_results_are_still_valid_files() {
        let empty = Table::default().grid();
        assert_eq!(serde_json::from_str::<Value>(&to_json(&empty)).unwrap(), Value::Array(Vec::new()));
        assert_eq!(to_csv(&empty).unwrap().iter().filter(|&&byte| byte == b'\n').count(), 1);
    }
}
