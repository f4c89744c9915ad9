//! How much comes out of an operator: rows, and the texts that their values are in a file.
//!
//! The texts of a column that was read are a share of the input, whatever its rows look like. So how much they are is
//! known better than how many rows there are: short rows are many, but all of them together are as long as the input.

use super::Input;
use super::guess::{Guess, TextWidth};
use crate::analysis::hir::{Aggregation, Merge, OutputColumn, Reshape, Schema, Source, Transform};
use crate::analysis::types::{Kind, Type};

/// What comes out of one port of an operator.
#[derive(Clone, Debug)]
pub struct Amount {
    /// How many rows.
    pub rows: Guess,
    /// For each column, the texts of all rows.
    pub columns: Vec<Texts>,
    /// Bytes of all text that was read for these rows, that of fields which no schema declares included.
    pub read: u64,
    /// Of these, the bytes that such fields usually take.
    pub undeclared: u64,
}

/// The texts of a column.
#[derive(Clone, Copy, Default, Debug)]
pub struct Texts {
    /// Their bytes.
    bytes: Guess,
    /// Whether they stood in an input.
    is_read: bool,
}

impl Texts {
    /// The texts of so many computed values.
    fn computed(rows: Guess, ty: &Type) -> Self {
        let width = TextWidth::of(ty);
        Self { bytes: rows.times(Guess::new(width.usual, width.long)), is_read: false }
    }

    fn times(self, factor: u64) -> Self {
        Self { bytes: self.bytes * factor, ..self }
    }
}

impl Amount {
    /// The rows of a source.
    pub fn of_source(input: &Input, source: &Source) -> Self {
        let (bytes, usual) = (input.bytes, UsualRows::of(input, source));
        let widths: Vec<TextWidth> = source.columns.iter().map(|column| TextWidth::of(&column.ty)).collect();
        // An undeclared field is a delimiter at least.
        let short = widths.iter().map(|width| width.short + 1).sum::<u64>() + usual.undeclared_fields;
        let texts = |(width, usual): (&TextWidth, &u64)| {
            let others = short - width.short - 1;
            let long = share(bytes, width.long, width.long + 1 + others);
            Texts { bytes: usual_and_most(*usual, long, input), is_read: true }
        };
        let declared: Vec<Texts> = widths.iter().zip(&usual.texts).map(texts).collect();
        let keys = source.correlation_key.iter().map(|position| declared[*position]);
        Self {
            rows: usual_and_most(usual.rows, bytes / short.max(1), input),
            columns: declared.iter().copied().chain(keys).collect(),
            read: bytes,
            undeclared: usual.undeclared,
        }
    }

    /// One row, of nothing that is known.
    pub fn one_row() -> Self {
        Self { rows: Guess::exactly(1), columns: Vec::new(), read: 0, undeclared: 0 }
    }

    /// What a transform makes of it, all rows kept.
    pub fn through(&self, transform: &Transform) -> Self {
        let texts = |column: &OutputColumn| match column {
            OutputColumn::Input(position) => self.columns.get(*position).copied().unwrap_or_default(),
            OutputColumn::Emit(slot) => Texts::computed(self.rows, &transform.emits[*slot].ty),
        };
        Self { columns: transform.output.iter().map(texts).collect(), ..self.clone() }
    }

    /// What a merge makes of its inputs.
    pub fn merged(inputs: &[&Self], merge: &Merge) -> Self {
        let width = merge.columns.first().map_or(0, Vec::len);
        let texts = |output: usize| {
            let mapped = inputs.iter().zip(&merge.columns).filter_map(|(input, columns)| {
                columns[output].and_then(|position| input.columns.get(position).copied())
            });
            mapped.fold(Texts { is_read: true, ..Texts::default() }, |all, one| Texts {
                bytes: all.bytes + one.bytes,
                is_read: all.is_read && one.is_read,
            })
        };
        Self {
            rows: inputs.iter().map(|input| input.rows).sum(),
            columns: (0..width).map(texts).collect(),
            read: inputs.iter().fold(0, |read, input| read.saturating_add(input.read)),
            undeclared: inputs.iter().fold(0, |all, input| all.saturating_add(input.undeclared)),
        }
    }

    /// The groups of an aggregate.
    pub fn grouped(&self, aggregation: &Aggregation, output: &Schema) -> Self {
        let key = &aggregation.grouped.columns[..aggregation.key];
        let rows = match key {
            [] => Guess::exactly(1),
            key => groups(self.rows, key.iter().map(|column| &column.ty.kind)),
        };
        let columns = output.columns.iter().map(|column| Texts::computed(rows, &column.ty));
        Self { rows, columns: columns.collect(), read: self.read, undeclared: 0 }
    }

    /// What a reshape makes of it at most: each rule may add a row for each row.
    pub fn extended(&self, reshape: &Reshape, output: &Schema) -> Self {
        let factor = 1 + reshape.rules.iter().filter(|rule| rule.synthesize.is_some()).count() as u64;
        let rows = self.rows * factor;
        let texts = |(position, column): (usize, &crate::analysis::hir::Column)| {
            let own = self.columns.get(position).filter(|_| reshape.written(position).is_none());
            own.map_or_else(|| Texts::computed(rows, &column.ty), |texts| texts.times(factor))
        };
        let columns = output.columns.iter().enumerate().map(texts).collect();
        let [read, undeclared] = [self.read, self.undeclared].map(|bytes| bytes.saturating_mul(factor));
        Self { rows, columns, read, undeclared }
    }

    /// The same, and at most the rows of another once more.
    pub fn with_at_most(&self, other: &Self) -> Self {
        let add = |own: Guess, other: Guess| Guess::new(own.usual, own.most.saturating_add(other.most));
        let texts = |(position, own): (usize, &Texts)| {
            let more = other.columns.get(position).copied().unwrap_or_default();
            Texts { bytes: add(own.bytes, more.bytes), ..*own }
        };
        Self {
            rows: add(self.rows, other.rows),
            columns: self.columns.iter().enumerate().map(texts).collect(),
            read: self.read.saturating_add(other.read),
            undeclared: self.undeclared,
        }
    }

    /// The bytes of the texts of some columns: those that were read are no more than all that was.
    pub fn texts(&self, positions: impl Iterator<Item = usize>) -> Guess {
        let [read, computed] = self.read_and_computed(positions);
        read.capped(self.read) + computed
    }

    /// The same with the fields that no schema declares: then it may be all that was read.
    pub fn texts_and_undeclared(&self, positions: impl Iterator<Item = usize>) -> Guess {
        let [read, computed] = self.read_and_computed(positions);
        Guess::new(read.usual.saturating_add(self.undeclared).min(self.read), self.read) + computed
    }

    fn read_and_computed(&self, positions: impl Iterator<Item = usize>) -> [Guess; 2] {
        let columns = positions.filter_map(|position| self.columns.get(position));
        let (read, computed): (Vec<&Texts>, Vec<&Texts>) = columns.partition(|texts| texts.is_read);
        [read, computed].map(|texts| texts.into_iter().map(|texts| texts.bytes).sum())
    }
}

/// The most groups of so many rows by a key of these kinds: few values make few groups.
pub fn groups<'a>(rows: Guess, key: impl Iterator<Item = &'a Kind>) -> Guess {
    let values = |kind: &Kind| match kind {
        Kind::Null => 1,
        Kind::Bool => 3,
        _ => u64::MAX,
    };
    rows.capped(key.map(values).fold(1, u64::saturating_mul))
}

/// What an input comes to if all of it is as its first rows are; where nobody has seen them, as rows with its types
/// usually are.
struct UsualRows {
    rows: u64,
    /// The texts of each declared column.
    texts: Vec<u64>,
    /// The texts of all other fields, with what stands between them.
    undeclared: u64,
    /// Fields of a row that no column declares.
    undeclared_fields: u64,
}

impl UsualRows {
    fn of(input: &Input, source: &Source) -> Self {
        let Some(sample) = &input.sample else { return Self::of_types(input.bytes, source) };
        let declared = source.columns.len() as u64;
        let all = input.bytes.saturating_sub(sample.headers);
        let rows = share(all, sample.rows, sample.bytes).max(1);
        let texts: Vec<u64> = sample.columns.iter().map(|column| share(all, *column, sample.bytes)).collect();
        let others = all.saturating_sub(texts.iter().sum::<u64>() + rows * declared);
        let undeclared_fields = sample.fields.saturating_sub(declared);
        Self { rows, texts, undeclared: if undeclared_fields > 0 { others } else { 0 }, undeclared_fields }
    }

    /// At least one row where there is more than a header.
    fn of_types(bytes: u64, source: &Source) -> Self {
        let headers = source.columns.iter().map(|column| column.header.len() as u64 + 1);
        let header = if source.csv.has_header { headers.sum() } else { 0 };
        let row = usual_row(source);
        let texts = source.columns.iter().map(|column| share(bytes, TextWidth::of(&column.ty).usual, row));
        Self {
            rows: (bytes / row).max(u64::from(bytes > header)),
            texts: texts.collect(),
            undeclared: 0,
            undeclared_fields: 0,
        }
    }
}

/// What is usual, and at most `most`; but rows behind those that were seen may be other ones.
fn usual_and_most(usual: u64, most: u64, input: &Input) -> Guess {
    let more = if input.sample.is_some() { usual.saturating_add(usual / 4) } else { usual };
    Guess::new(usual, most.max(more.min(input.bytes)))
}

/// The bytes of a row with the types of a source, as they usually are: each cell's text and what follows it.
pub fn usual_row(source: &Source) -> u64 {
    source.columns.iter().map(|column| 1 + TextWidth::of(&column.ty).usual).sum::<u64>().max(1)
}

fn share(bytes: u64, part: u64, whole: u64) -> u64 {
    (u128::from(bytes) * u128::from(part) / u128::from(whole.max(1))) as u64
}
