//! Cutter and index against the `csv` crate, and what they promise besides.

use clinker::analysis::hir::{CsvReadOptions, Encoding, SourceColumn};
use clinker::analysis::types::{Kind, Type};
use clinker::formats::csv::{Binding, BindingError, Cutter, MAX_RECORD, ReadError, RecordFaultKind, bind};
use proptest::prelude::*;

use super::support::{self, Reading, Trickle, column, read, without_header};

const BLOCK_SIZES: [usize; 7] = [1, 2, 7, 33, 64, 300, 1 << 20];

/// A record as a plain reader sees it: the line it begins in, and its fields.
type Plain = (u64, Vec<Vec<u8>>);

/// Reads byte by byte; or gives the line of the quote that never closes.
fn read_plainly(text: &[u8], options: &CsvReadOptions) -> Result<Vec<Plain>, u64> {
    let (mut records, mut fields, mut field) = (Vec::new(), Vec::new(), Vec::new());
    let (mut line, mut begun, mut quoted, mut at_start, mut quote_line) = (1, 1, false, true, 0);
    let mut at = 0;
    while at < text.len() {
        let (byte, next) = (text[at], text.get(at + 1).copied());
        let is_end = matches!(byte, b'\n' | b'\r');
        line += u64::from(byte == b'\n' || (byte == b'\r' && next != Some(b'\n')));
        at += 1;
        if quoted && byte == options.quote && next == Some(options.quote) {
            field.push(byte);
            at += 1;
        } else if quoted && byte == options.quote {
            quoted = false;
        } else if quoted {
            field.push(byte);
        } else if is_end && at_start && fields.is_empty() {
            begun = line;
        } else if is_end {
            fields.push(std::mem::take(&mut field));
            records.push((begun, std::mem::take(&mut fields)));
            (begun, at_start) = (line, true);
        } else if byte == options.delimiter {
            fields.push(std::mem::take(&mut field));
            at_start = true;
        } else if byte == options.quote && at_start {
            (quoted, at_start, quote_line) = (true, false, line);
        } else {
            field.push(byte);
            at_start = false;
        }
    }
    if quoted {
        return Err(quote_line);
    }
    if !at_start || !fields.is_empty() {
        fields.push(field);
        records.push((begun, fields));
    }
    Ok(records)
}

fn read_with_csv_crate(text: &[u8], options: &CsvReadOptions) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv::ReaderBuilder::new();
    reader.flexible(true).has_headers(false).delimiter(options.delimiter).quote(options.quote);
    let records = reader.from_reader(text).into_byte_records().map(|record| record.expect("reads"));
    records.map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
}

fn shown(fields: &[Vec<u8>]) -> Vec<String> {
    fields.iter().map(|field| String::from_utf8(field.clone()).expect("text")).collect()
}

fn check_reading(reading: &Reading, expected: &[Plain]) {
    let width = expected.first().map(|(_, fields)| fields.len());
    assert_eq!(reading.width, width);
    assert_eq!(reading.records.len(), expected.len());
    for (row, (found, (line, fields))) in (1..).zip(reading.records.iter().zip(expected)) {
        assert_eq!((found.row, found.raw.line, &found.raw.fields), (row, *line, &shown(fields)));
    }
    let (fit, unfit): (Vec<_>, Vec<_>) = (1..).zip(expected).partition(|(_, (_, fields))| Some(fields.len()) == width);
    assert_eq!(reading.cells, fit.iter().map(|(_, (_, fields))| shown(fields)).collect::<Vec<_>>());
    assert_eq!(reading.misshapen, unfit.iter().map(|(row, _)| *row).collect::<Vec<u64>>());
}

fn check(text: &str, options: &CsvReadOptions) {
    let expected = read_plainly(text.as_bytes(), options);
    for block_size in BLOCK_SIZES {
        match (read(text.as_bytes(), options, block_size), &expected) {
            (Ok(reading), Ok(expected)) => {
                let fields: Vec<_> = expected.iter().map(|(_, fields)| fields.clone()).collect();
                assert_eq!(fields, read_with_csv_crate(text.as_bytes(), options));
                check_reading(&reading, expected);
            }
            (Err(ReadError::OpenQuote { line }), Err(expected)) => assert_eq!(line, *expected),
            (Err(error), _) => panic!("{error:?}"),
            (Ok(_), Err(line)) => panic!("the quote opened in line {line} was not noticed"),
        }
    }
}

fn options() -> impl Strategy<Value = CsvReadOptions> {
    let marks = prop_oneof![Just((b',', b'"')), Just((b';', b'"')), Just((b'\t', b'\'')), Just((b'|', b','))];
    marks.prop_map(|(delimiter, quote)| CsvReadOptions { delimiter, quote, ..without_header() })
}

/// Any mixture of what matters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(","), 3 => Just("\""), 2 => Just("\n"), 1 => Just("\r"), 1 => Just("\r\n"), 1 => Just("'"),
        1 => Just(";"), 1 => Just("|"), 1 => Just("\t"), 3 => Just("ab"), 1 => Just("é"), 1 => Just("\0"),
        1 => Just("\"\""), 1 => Just("\n\n"), 1 => Just("a text that is longer than a view"), 1 => Just(" "),
    ];
    prop::collection::vec(piece, 0..90).prop_map(|pieces| pieces.concat())
}

/// Files as they are: a few columns, some quoted, one kind of line end, perhaps none at the end of the file.
fn orderly() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        4 => "[a-z0-9]{0,9}", 1 => Just("\"x,y\"".to_owned()), 1 => Just("\"a\"\"b\"".to_owned()),
        1 => Just("\"two\nlines\"".to_owned()), 1 => "\"[a-z]{0,20}\"", 1 => "[a-zé]{10,30}",
    ];
    let (end, last) = (prop_oneof![Just("\n"), Just("\r\n"), Just("\r")], any::<bool>());
    (1_usize..6, prop::collection::vec(field, 0..150), end, last).prop_map(|(width, fields, end, last)| {
        let lines: Vec<String> = fields.chunks_exact(width).map(|fields| fields.join(",")).collect();
        lines.join(end) + if last { end } else { "" }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn hostile_text_reads_as_with_the_csv_crate(text in hostile(), options in options()) {
        check(&text, &options);
    }

    #[test]
    fn orderly_text_reads_as_with_the_csv_crate(text in orderly()) {
        check(&text, &without_header());
    }
}

#[test]
fn odd_texts_read_as_with_the_csv_crate() {
    let texts = [
        "",
        "\n",
        "\r\n\r\n",
        "a",
        "a\n",
        "\"\"",
        "\"\"\n",
        "a,\n",
        ",",
        "\n\na,b\n\n\nc,d\n\n",
        "a,b\rc,d\r",
        "a\r\nb\r",
        "\"a\"b,c\n",
        "\"a\"b\"c,d\n",
        "ab\"c,d\"\n",
        "\"a\"\"\",b\n",
        "\"\"\"\"\n",
        "\"a\nb\",c\nd,e\n",
        "\"a\r\nb\",c\r\nd,e",
        "a,b\nc\nd,e,f\ng,h\n",
        "\"open,b\nc,d\n",
        "a,\"open\nc,d\n",
        "a,b\n\"",
        "a,\"b\"\n\"",
        " \n \n",
        "a,\"b\r\"\r\nc,d\r\n",
        "x\n\ny\n",
        "x\r\n\r\ny\r\n",
        "a,b\r\nc,d\n",
        "a,b\nc,d\r\n",
        "\"a,b\n",
        "a,b\n\"\"c,\"\"\"d\"\n",
    ];
    for text in texts {
        check(text, &without_header());
    }
}

#[test]
fn long_regular_text_keeps_its_numbers() {
    let lines: Vec<String> = (0..3000).map(|row| format!("{row},\"q{row}\",{}", row * 7919)).collect();
    for (end, strip) in [("\n", true), ("\n", false), ("\r\n", true), ("\r\n", false)] {
        let text = lines.join(end);
        check(&if strip { text.replace('"', "") } else { text }, &without_header());
    }
}

#[test]
fn a_text_is_cut_into_about_as_many_blocks_as_it_should() {
    let text = "abc,def,ghi\n".repeat(1000);
    let reading = read(text.as_bytes(), &without_header(), 1200).expect("reads");
    assert!((10..13).contains(&reading.blocks), "{}", reading.blocks);
}

#[test]
fn a_record_longer_than_a_block_is_read_whole() {
    let long = "x".repeat(100_000);
    let text = format!("a,b\n{long},\"{long}\n\"\nc,d\n");
    let reading = read(text.as_bytes(), &without_header(), 16).expect("reads");
    assert_eq!(reading.cells[1], [long.clone(), format!("{long}\n")]);
    assert_eq!(reading.records[2].raw.line, 4);
}

#[test]
fn a_record_without_end_is_refused() {
    let text = [b"a,b\n".as_slice(), &b"x".repeat(MAX_RECORD + 10)].concat();
    match read(&text, &without_header(), 1 << 20) {
        Err(ReadError::RecordTooLarge { line, bound }) => assert_eq!((line, bound), (2, MAX_RECORD)),
        other => panic!("{:?}", other.map(|reading| reading.records.len())),
    }
}

#[test]
fn headers_are_read_in_every_form() {
    let cases: [(&str, &[&str], &str); 6] = [
        ("a,b\n1,2\n", &["a", "b"], "1,2"),
        ("\u{FEFF}\"a\",b\r\n1,2\r\n", &["a", "b"], "1,2"),
        ("\u{FEFF}a,b\n1,2", &["a", "b"], "1,2"),
        ("\n\n\"a\n1\",\"b\"\"\"\n1,2\n", &["a\n1", "b\""], "1,2"),
        ("a,b\r1,2\r", &["a", "b"], "1,2"),
        ("größe,b\n1,2", &["größe", "b"], "1,2"),
    ];
    for (text, names, first) in cases {
        for block_size in BLOCK_SIZES {
            let reading = read(text.as_bytes(), &CsvReadOptions::default(), block_size).expect("reads");
            assert_eq!(reading.header.as_deref().expect("a header"), names);
            assert_eq!((reading.records[0].row, reading.records[0].raw.text.as_str()), (1, first));
            let line = 1 + u64::from(text.starts_with('\n')) * 3 + 1;
            assert_eq!(reading.records[0].raw.line, line, "{text:?}");
        }
    }
}

#[test]
fn files_without_rows() {
    let open = |text: &[u8], has_header| {
        let options = CsvReadOptions { has_header, ..CsvReadOptions::default() };
        read(text, &options, 64).map(|reading| (reading.header, reading.width, reading.records.len()))
    };
    let header = Some(vec!["a".to_owned(), "b".to_owned()]);
    for text in ["a,b", "a,b\n", "\u{FEFF}a,b\r\n", "a,b\n\n\n"] {
        assert_eq!(open(text.as_bytes(), true).expect("reads"), (header.clone(), Some(2), 0), "{text:?}");
    }
    for text in ["", "\u{FEFF}", "\n\n"] {
        assert!(matches!(open(text.as_bytes(), true), Err(ReadError::Empty)), "{text:?}");
        assert_eq!(open(text.as_bytes(), false).expect("reads"), (None, None, 0), "{text:?}");
    }
    assert!(matches!(open(b"\na,\"b\n", true), Err(ReadError::OpenQuote { line: 2 })));
    assert!(matches!(open(b"\na,\xFF\n", true), Err(ReadError::HeaderEncoding { line: 2 })));
}

#[test]
fn a_failing_reader_is_reported() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }
    let opened = Cutter::open(Box::new(Broken), &without_header(), 64);
    assert!(matches!(opened.err(), Some(ReadError::Io(error)) if error.to_string() == "unplugged"));
}

/// Fields, text and faults of a file with a header-less string column for each field.
fn faults_of(text: &[u8], encoding: Encoding, block_size: usize) -> (Vec<String>, Vec<(u64, RecordFaultKind)>) {
    use clinker::formats::csv::{Block, Decoder, Index};
    use clinker::plan::physical::ColumnSet;
    let options = CsvReadOptions { encoding, ..without_header() };
    let columns = [column("n", Type::of(Kind::Int)), column("s", Type::of(Kind::String))];
    let (mut cutter, _) = Cutter::open(Trickle::new(text, 10), &options, block_size).expect("opens");
    let binding = bind(&columns, None, 2, true).expect("binds");
    let decoder = Decoder::new(&columns, binding, &ColumnSet::all(2), true, &options);
    let (mut block, mut index) = (Block::default(), Index::default());
    let (mut texts, mut faults) = (Vec::new(), Vec::new());
    while cutter.next_block(&mut block).expect("reads") {
        decoder.index(&block, &mut index);
        let decoded = decoder.decode(&block, &index, 0..block.records);
        let strings = decoded.columns[1].as_ref().expect("stored");
        for position in 0..block.records {
            let row = block.first_row + u64::from(position);
            match decoded.faults.iter().find(|fault| fault.position == position) {
                Some(fault) => {
                    texts.push(decoder.raw(&block, &index, position).text);
                    faults.push((row, fault.kind.clone()));
                }
                None => texts.push(support::text(strings, position as usize)),
            }
        }
    }
    (texts, faults)
}

#[test]
fn a_bad_record_costs_exactly_itself() {
    let text = b"1,one\n2\n3,thr\xE9e\nx,\xFFfour\n5,five,extra\xFF\nx,\"si\"\"x\"\n7,seven\n,8\n";
    let width = |found| RecordFaultKind::Width { expected: 2, found };
    let value = |reason: &str| RecordFaultKind::Value { column: 0, reason: reason.into() };
    let expected = vec![
        (2, width(1)),
        (3, RecordFaultKind::Encoding { field: 1 }),
        (4, RecordFaultKind::Encoding { field: 1 }),
        (5, width(3)),
        (6, value("not a whole number")),
        (8, value("empty, and the column is not nullable(int)")),
    ];
    let shown = ["one", "2", "3,thr\\xE9e", "x,\\xFFfour", "5,five,extra\\xFF", "x,\"si\"\"x\"", "seven", ",8"];
    for block_size in BLOCK_SIZES {
        let (texts, faults) = faults_of(text, Encoding::Utf8, block_size);
        assert_eq!((texts, faults), (shown.map(str::to_owned).to_vec(), expected.clone()), "{block_size}");
    }
}

#[test]
fn latin_1_has_a_letter_for_every_byte() {
    let text = b"1,caf\xE9\n2,\"\xFC\"\"\xDF, a longer text: \xE4\xF6\"\n\n\xE9,z\xFC\n4,plain\n";
    for block_size in BLOCK_SIZES {
        let (texts, faults) = faults_of(text, Encoding::Latin1, block_size);
        assert_eq!(texts, ["café", "ü\"ß, a longer text: äö", "é,zü", "plain"]);
        let reason = "not a whole number".to_owned();
        assert_eq!(faults, [(3, RecordFaultKind::Value { column: 0, reason })]);
    }
}

#[test]
fn a_header_in_latin_1() {
    let options = CsvReadOptions { encoding: Encoding::Latin1, ..CsvReadOptions::default() };
    let reading = read(b"gr\xF6\xDFe\n1\n", &options, 64).expect("reads");
    assert_eq!(reading.header.expect("a header"), ["größe"]);
}

fn declared(headers: &[&str]) -> Vec<SourceColumn> {
    headers.iter().map(|header| column(header, Type::of(Kind::String))).collect()
}

#[test]
fn columns_are_bound_by_name() {
    let bind_to = |columns: &[&str], names: &[&str], carries| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        bind(&declared(columns), Some(&names), names.len(), carries)
    };
    let bound = bind_to(&["b", "a"], &["a", "x", "b", "y"], true).expect("binds");
    let extra = vec![(1, "x".to_owned()), (3, "y".to_owned())];
    assert_eq!(bound, Binding { declared: vec![2, 0], extra, width: 4 });
    assert_eq!(bind_to(&["a", "A"], &["a", "b"], true), Err(BindingError::Missing { columns: vec![1] }));
    let several = bind_to(&["x", "a", " a", "x"], &["a", "a"], true);
    assert_eq!(several, Err(BindingError::Missing { columns: vec![0, 2, 3] }));
    assert_eq!(
        bind_to(&["b", "a"], &["a", "b", "a"], true),
        Err(BindingError::Duplicate { column: 1, positions: (0, 2) })
    );
    let shared = BindingError::DuplicateExtra { name: "x".into(), positions: (1, 2) };
    assert_eq!(bind_to(&["a"], &["a", "x", "x"], true), Err(shared));
    assert_eq!(bind_to(&["a"], &["a", "x", "x"], false).expect("binds").extra.len(), 2);
}

#[test]
fn columns_are_bound_by_position_without_a_header() {
    let bound = bind(&declared(&["a", "b"]), None, 4, true).expect("binds");
    let extra = vec![(2, "col_2".to_owned()), (3, "col_3".to_owned())];
    assert_eq!(bound, Binding { declared: vec![0, 1], extra, width: 4 });
    assert_eq!(bind(&declared(&["a", "b"]), None, 1, true), Err(BindingError::TooNarrow { found: 1 }));
}
