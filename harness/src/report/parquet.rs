//! Parquet of a [`Grid`]: one row group, plain and uncompressed, every column optional.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::FormatError;
use crate::measure::{Column, Field, Grid, Kind};

/// Parquet with the grid's columns: text as UTF-8, integers as INT64, decimals as DOUBLE, flags as BOOLEAN.
///
/// # Errors
/// If the grid has no columns.
pub fn to_parquet(grid: &Grid) -> Result<Vec<u8>, FormatError> {
    write(grid).map_err(|error| FormatError::new("Parquet")(&error))
}

fn write(grid: &Grid) -> Result<Vec<u8>, ParquetError> {
    let fields = grid.columns.iter().map(schema_field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("results").with_fields(fields).build()?);
    // The name of the writing library would change the bytes with its version.
    let properties = WriterProperties::builder().set_created_by("cwndtunnel".to_owned()).build();
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (index, column) in grid.columns.iter().enumerate() {
        let fields = grid.rows.iter().map(|row| row.get(index).unwrap_or(&Field::Empty));
        write_column(&mut group, column.kind, &fields.collect::<Vec<_>>())?;
    }
    group.close()?;
    writer.close()?;
    Ok(out)
}

fn schema_field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Decimal => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_logical_type(logical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).build()?))
}

fn write_column<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: Kind,
    fields: &[&Field],
) -> Result<(), ParquetError> {
    match kind {
        Kind::Text => write_values::<ByteArrayType, _>(group, fields, |field| match field {
            Field::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        Kind::Integer => write_values::<Int64Type, _>(group, fields, |field| match field {
            Field::Integer(number) => Some(i64::try_from(*number).unwrap_or(i64::MAX)),
            _ => None,
        }),
        Kind::Decimal => write_values::<DoubleType, _>(group, fields, |field| match field {
            Field::Real(number) => Some(*number),
            _ => None,
        }),
        Kind::Flag => write_values::<BoolType, _>(group, fields, |field| match field {
            Field::Flag(flag) => Some(*flag),
            _ => None,
        }),
    }
}

/// Writes the next column: definition level 1 where there is a value, 0 where there is none.
fn write_values<T: DataType, W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    fields: &[&Field],
    value: impl Fn(&Field) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = fields.iter().map(|field| value(field)).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column =
        group.next_column()?.ok_or_else(|| ParquetError::General("more columns than the schema".into()))?;
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field as Stored;

    use super::*;
    use crate::measure::{Table, TableOptions, testing};

    #[test]
    fn a_reader_gets_back_every_field() {
        let records: Vec<_> = (1..=6).map(|seed| testing::run("ünïcode", "cubic", seed)).collect();
        let grid = Table::build(&records, &TableOptions::default()).unwrap().grid();
        let bytes = to_parquet(&grid).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 1);
        let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
        for (((name, stored), column), field) in row.get_column_iter().zip(&grid.columns).zip(&grid.rows[0]) {
            assert_eq!(*name, column.name);
            let expected = match field {
                Field::Empty => Stored::Null,
                Field::Text(text) => Stored::Str(text.clone()),
                Field::Integer(number) => Stored::Long(*number as i64),
                Field::Real(number) => Stored::Double(*number),
                Field::Flag(flag) => Stored::Bool(*flag),
            };
            assert_eq!(*stored, expected, "{name}");
        }
        assert_eq!(row.len(), grid.columns.len());
    }

    #[test]
    fn the_same_grid_gives_the_same_bytes() {
        let grid = Table::build(&[testing::run("s", "a", 1)], &TableOptions::default()).unwrap().grid();
        assert_eq!(to_parquet(&grid).unwrap(), to_parquet(&grid).unwrap());
    }
}
