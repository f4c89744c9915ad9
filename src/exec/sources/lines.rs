//! In which line of its file a record begins, where its text is not at hand any more: for messages.

use crate::exec::{Observer, Options};
use crate::formats::csv::{Block, Decoder, Index, bind};
use crate::plan::physical::ColumnSet;

use super::Source;
use super::open::cutter;

/// The line that a record of a file begins in. Reads the file up to there once more; `None` if that can't be done, as with
/// a pipe.
pub(crate) fn line_of(
    source: &Source<'_>,
    file: usize,
    row: u64,
    options: &Options,
    observer: &dyn Observer,
) -> Option<u64> {
    let (file, spec) = (source.files.get(file)?, &source.spec.source);
    if !std::fs::metadata(&file.path).is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let (mut cutter, header) = cutter(source, file, options.block_size).ok()?;
    let binding = bind(&spec.columns, header.as_deref(), cutter.width()?, false).ok()?;
    let nothing = ColumnSet::none(source.spec.schema.columns.len());
    let decoder = Decoder::new(&spec.columns, binding, &nothing, false, &spec.csv);
    let (mut block, mut index) = (Block::default(), Index::default());
    while !observer.interrupted() && cutter.next_block(&mut block).ok()? {
        if row < block.first_row + u64::from(block.records) {
            decoder.index(&block, &mut index);
            let position = u32::try_from(row.checked_sub(block.first_row)?).ok()?;
            return Some(decoder.raw(&block, &index, position).line);
        }
    }
    None
}
