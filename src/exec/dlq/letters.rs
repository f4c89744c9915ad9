//! The dead letters of one block.

use super::LetterShape;

/// What happened, for a dead letter's own columns.
pub(crate) struct Trigger<'a> {
    /// The file of the row, as configured or matched.
    pub file: &'a str,
    /// Its source.
    pub source: &'a str,
    /// Its number in the file.
    pub row: u64,
    /// The column that was being computed or read; empty if none was.
    pub field: &'a str,
    /// The offending value; empty if the failure carries none.
    pub value: &'a str,
    /// The category.
    pub category: &'a str,
    /// The reason in words.
    pub detail: String,
    /// The exact text of a record that could not be typed; empty otherwise.
    pub raw: &'a str,
    /// Where it happened, if that says more than the operator does.
    pub stage: Option<&'a str>,
}

/// The dead letters of a block. They are complete but for id and time, and in order once [`Letters::complete`] ran.
#[derive(Default)]
pub(crate) struct Letters {
    marks: Vec<Mark>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Mark {
    /// The row, as a position in the block.
    position: u32,
    /// The operator, as a position in the stage.
    node: u32,
    row: LetterRow,
    bond: Bond,
    start: usize,
    end: usize,
}

/// The row that a dead letter is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct LetterRow {
    /// What made it, as a position among the plan's makers of rows: a source, or behind all sources an aggregate.
    pub source: u32,
    /// Its number across the source's files, or among the aggregate's groups, from 1.
    pub source_row: u64,
}

impl LetterRow {
    /// No row: it stands behind all others.
    pub const NONE: Self = Self { source: u32::MAX, source_row: 0 };
}

/// How a dead letter belongs to others of its operator. Groups are numbered by the operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Bond {
    /// It stands alone.
    #[default]
    Alone,
    /// It is a reason why a group failed. Whatever else is lost with the group names the first of these.
    Trigger(u32),
    /// It is lost with a group: its category is `correlated`.
    Correlated(u32),
}

/// A dead letter of a block.
pub(crate) struct Letter<'a> {
    /// The row.
    pub row: LetterRow,
    /// The operator, as a position in the stage.
    pub node: usize,
    /// How it belongs to others.
    pub bond: Bond,
    /// The text behind id and time, with its line end; empty if it is only counted.
    pub text: &'a [u8],
}

impl Letters {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.bytes.clear();
    }

    /// What is written of them, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds one that ends at `end` of what the writer wrote.
    pub fn add(&mut self, position: u32, node: usize, row: LetterRow, end: usize) {
        self.add_bound(position, node, row, Bond::Alone, end);
    }

    /// Adds one that belongs to a group.
    pub fn add_bound(&mut self, position: u32, node: usize, row: LetterRow, bond: Bond, end: usize) {
        let start = self.end();
        self.marks.push(Mark { position, node: node as u32, row, bond, start, end });
    }

    /// Adds one that is counted but not written.
    pub fn count(&mut self, position: u32, node: usize, row: LetterRow) {
        self.count_bound(position, node, row, Bond::Alone);
    }

    /// Adds one that belongs to a group and is counted but not written.
    pub fn count_bound(&mut self, position: u32, node: usize, row: LetterRow, bond: Bond) {
        self.add_bound(position, node, row, bond, self.end());
    }

    /// Where the last one ends.
    fn end(&self) -> usize {
        self.marks.last().map_or(0, |mark| mark.end)
    }

    /// Takes over what the writer wrote, and puts the letters in order: by record, then by operator.
    pub fn complete(&mut self, writer: LetterWriter) {
        if let Some(csv) = writer.csv {
            self.bytes = csv.into_inner().expect("writing to memory can't fail");
        }
        self.marks.sort_by_key(|mark| (mark.position, mark.node));
    }

    /// Those of the rows up to `last`, in order.
    pub fn up_to(&self, last: u32) -> impl Iterator<Item = Letter<'_>> {
        let end = self.marks.partition_point(|mark| mark.position <= last);
        self.marks[..end].iter().map(|mark| Letter {
            row: mark.row,
            node: mark.node as usize,
            bond: mark.bond,
            text: &self.bytes[mark.start..mark.end],
        })
    }
}

/// Encodes dead letters, one behind the other.
#[derive(Default)]
pub(crate) struct LetterWriter {
    csv: Option<csv::Writer<Vec<u8>>>,
    /// Bytes that it buffers.
    buffer: usize,
}

impl LetterWriter {
    /// Writes one that is its own trigger, but for its id and time; gives where it ends.
    pub fn write(&mut self, shape: &LetterShape, trigger: &Trigger<'_>, cells: &[String]) -> usize {
        self.write_bound(shape, trigger, Bond::Alone, cells)
    }

    /// The same for one that may belong to a group.
    pub fn write_bound(&mut self, shape: &LetterShape, trigger: &Trigger<'_>, bond: Bond, cells: &[String]) -> usize {
        let row = trigger.row.to_string();
        let mut fields = vec![trigger.file, trigger.source, &row, trigger.field, trigger.value];
        if shape.reason {
            fields.extend([trigger.category, &trigger.detail]);
        }
        let (route, is_trigger) = match bond {
            Bond::Alone | Bond::Trigger(_) => (shape.route.as_str(), "true"),
            Bond::Correlated(_) => ("", "false"),
        };
        fields.extend([trigger.stage.unwrap_or(&shape.stage), route, is_trigger]);
        if shape.record {
            fields.push(trigger.raw);
            fields.extend(cells.iter().map(String::as_str));
        }
        let csv = self.writer(fields.iter().map(|field| field.len()).max().unwrap_or(0));
        let written = csv.write_record(fields).and_then(|()| Ok(csv.flush()?));
        written.expect("writing to memory can't fail");
        csv.get_ref().len()
    }

    /// What writes records whose longest field has so many bytes.
    fn writer(&mut self, longest: usize) -> &mut csv::Writer<Vec<u8>> {
        // For each buffer that it fills, it looks through all that is left of the field.
        const FEW: usize = 16;
        const LEAST: usize = 8 << 10;
        if self.csv.is_none() || self.buffer < longest / FEW {
            self.buffer = LEAST.max(longest / FEW);
            let before = self.csv.take().map(|csv| csv.into_inner().expect("writing to memory can't fail"));
            let mut builder = csv::WriterBuilder::new();
            builder.flexible(true).buffer_capacity(self.buffer);
            self.csv = Some(builder.from_writer(before.unwrap_or_default()));
        }
        self.csv.as_mut().expect("it was just made")
    }
}
