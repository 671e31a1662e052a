//! The fields of this crate's errors by name.
//!
//! Owns what a [`SamplerError`] knows, told in the vocabulary of `dataset_rt_format`. Must not make sentences. Invariant: counts and row numbers stay numbers.

use dataset_rt_format::ErrorFacts;

use crate::error::SamplerError;

impl SamplerError {
    /// Its fields by name.
    #[must_use]
    pub fn facts(&self) -> ErrorFacts {
        let mut facts = ErrorFacts::default();
        match self {
            Self::EmptyTable => {
                facts = facts.with_values("at least one row", "none");
                facts.count = Some(0);
            }
            Self::TooManyRows { rows, limit } => {
                facts = facts.with_values(format_args!("at most {limit} rows"), rows)
            }
            Self::TooManySamples { caches, samples } => {
                facts.found = Some(format!("{caches} caches with {samples} samples"));
            }
            Self::MissingColumn { column, wanted } => {
                facts = facts.with_values(wanted, "no such column");
                facts.column = Some(column.clone());
            }
            Self::RepeatedColumn { column, count } => {
                facts = facts.with_values("one such column", count);
                facts.column = Some(column.clone());
            }
            Self::ColumnType {
                column,
                wanted,
                given,
            } => {
                facts = facts.with_values(wanted, given);
                facts.column = Some(column.clone());
            }
            Self::Rows {
                column,
                wanted,
                given,
                count,
                rows,
            } => {
                facts = facts.with_values(wanted, given);
                facts.column = Some((*column).to_owned());
                facts.count = Some(*count);
                facts.rows = rows.iter().map(|row| row.get()).collect();
            }
            Self::WeightSum { rows } => {
                facts = facts.with_values("a finite sum", "infinity");
                facts.column = Some("weight".to_owned());
                facts.count = Some(*rows);
            }
            Self::EpochLength => {
                facts = facts.with_values("at least 1", 0);
                facts.field = Some("epoch_len".to_owned());
            }
            Self::Partition { index, count } => {
                facts = facts.with_values(format_args!("an index below {count}"), index);
                facts.field = Some("index".to_owned());
            }
            Self::PartitionTail => {
                facts = facts.with_values("one of them", "both");
                facts.field = Some("drop_uneven, pad".to_owned());
            }
            Self::Position { position, limit } => {
                facts = facts.with_values(format_args!("at most {limit}"), position);
                facts.field = Some("position".to_owned());
            }
            Self::PositionRange { start, stop } => {
                let limit = crate::LAST_POSITION + 1;
                facts = facts.with_values(
                    format_args!("start <= stop <= {limit}"),
                    format_args!("{start}..{stop}"),
                );
                facts.field = Some("start, stop".to_owned());
            }
            Self::NoSuchRow { row, rows } => {
                facts = facts.with_values(format_args!("a row below {rows}"), row)
            }
            Self::StateVersion { found, supported } => {
                facts = facts.with_values(supported, found);
                facts.field = Some("version".to_owned());
            }
            Self::StateValue { field, found } => {
                facts.field = Some(field.to_string());
                facts.found = Some(found.clone());
            }
            Self::StateMismatch {
                field,
                saved,
                current,
            } => {
                facts = facts.with_values(current, saved);
                facts.field = Some(field.to_string());
            }
            Self::DamagedTables {
                part,
                at,
                expected,
                found,
            } => {
                facts = facts.with_values(expected, found);
                facts.field = Some(format!("{part} {at}"));
            }
        }
        facts
    }
}
