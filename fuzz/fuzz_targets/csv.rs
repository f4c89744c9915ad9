//! Any bytes are cut, indexed and decoded without a panic, and blocks hold every record once.

#![no_main]

use clinker::formats::csv::{Block, Cutter, Decoder, Index, bind};
use clinker::plan::physical::ColumnSet;
use clinker::syntax::pipeline::ast::CsvReadOptions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, bool, Vec<u8>)| {
    let (block_size, has_header, bytes) = input;
    let options = CsvReadOptions { has_header, ..CsvReadOptions::default() };
    let reader = Box::new(std::io::Cursor::new(bytes));
    let Ok((mut cutter, header)) = Cutter::open(reader, &options, usize::from(block_size)) else { return };
    let (mut block, mut index) = (Block::default(), Index::default());
    let mut next_row = None;
    while let Ok(true) = cutter.next_block(&mut block) {
        assert!(next_row.is_none_or(|row| row == block.first_row));
        next_row = Some(block.first_row + u64::from(block.records));
        let width = cutter.width().expect("a file with rows has a width");
        let Ok(binding) = bind(&[], header.as_deref(), width, true) else { return };
        let decoder = Decoder::new(&[], binding, &ColumnSet::none(0), true, &options);
        decoder.index(&block, &mut index);
        decoder.decode(&block, &index, 0..block.records);
        (0..block.records).for_each(|position| drop(decoder.raw(&block, &index, position)));
    }
});
