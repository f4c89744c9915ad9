//! Looks at the first rows of an input: how long they are tells how many there may be.

use crate::formats::csv::{Block, Decoder, Index, bind};
use crate::plan::explain::Sample;
use crate::plan::physical::ColumnSet;

use super::Source;
use super::open::cutter;

/// Bytes of rows that are looked at.
const LOOKED_AT: usize = 16 << 10;

/// The first rows of the largest file of a source; `None` if there are none, or they can't be read.
pub(super) fn sample(source: &Source<'_>) -> Option<Sample> {
    let spec = &source.spec.source;
    let file = source.files.iter().max_by_key(|file| file.bytes)?;
    let (mut cutter, header) = cutter(source, file, LOOKED_AT).ok()?;
    let binding = bind(&spec.columns, header.as_deref(), cutter.width()?, false).ok()?;
    let nothing = ColumnSet::none(source.spec.schema.columns.len());
    let decoder = Decoder::new(&spec.columns, binding.clone(), &nothing, false, &spec.csv);
    let (mut block, mut index) = (Block::default(), Index::default());
    if !cutter.next_block(&mut block).ok()? {
        return None;
    }
    decoder.index(&block, &mut index);
    let mut columns = vec![0; spec.columns.len()];
    for position in 0..block.records {
        let fields = decoder.raw(&block, &index, position).fields;
        for (bytes, field) in columns.iter_mut().zip(&binding.declared) {
            *bytes += fields.get(*field).map_or(0, String::len) as u64;
        }
    }
    let header: usize = header.iter().flatten().map(|name| name.len() + 1).sum();
    Some(Sample {
        rows: u64::from(block.records),
        bytes: block.len as u64,
        columns,
        fields: binding.width as u64,
        headers: (header * source.files.len()) as u64,
    })
}
