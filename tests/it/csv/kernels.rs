//! The loops with `unsafe` in them against their plain twins.

use arrow_array::StringViewArray;
use clinker::exec::batch::{Column, TextColumn};
use clinker::formats::csv::kernels::{self, Marks, Pen, Separated, Survey, checked};
use proptest::prelude::*;

/// Text with long dull stretches, so that whole chunks hold nothing.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => Just(b",".to_vec()), 2 => Just(b"\"".to_vec()), 2 => Just(b"\n".to_vec()), 1 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()), 2 => Just(b",\"a,b\",".to_vec()), 1 => (0_usize..140).prop_map(|n| vec![b'x'; n]),
        1 => (0_usize..80).prop_map(|n| vec![b','; n]), 2 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Without the marks that make a text irregular, so that regular ones are common.
fn tame(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('"', "").replace("\r\n", "\n").replace('\r', "").into_bytes()
}

type FindAll = fn(&[u8], Marks, &mut Vec<u32>) -> Option<Separated>;

fn check_separators(text: &[u8], marks: Marks, kernels: &[FindAll], expected: Option<(Vec<u32>, Separated)>) {
    for kernel in kernels {
        let mut found = vec![7];
        let separated = kernel(text, marks, &mut found);
        found.remove(0);
        assert_eq!(separated.map(|found_besides| (found, found_besides)), expected);
    }
}

fn check(text: &[u8]) {
    let marks = Marks { delimiter: b',', quote: b'"' };
    let mut surveys: Vec<Survey> = vec![kernels::survey(text, marks)];
    let mut plain: Vec<FindAll> = vec![kernels::separators::<false, false>];
    let mut returns: Vec<FindAll> = vec![kernels::separators::<false, true>];
    let mut quoted: Vec<FindAll> = vec![kernels::separators::<true, false>];
    let mut both: Vec<FindAll> = vec![kernels::separators::<true, true>];
    let mut all = vec![Vec::new()];
    kernels::structurals(text, marks, &mut all[0]);
    #[cfg(target_arch = "x86_64")]
    {
        use kernels::sse2;
        surveys.push(sse2::survey(text, marks));
        plain.push(sse2::separators::<false, false>);
        returns.push(sse2::separators::<false, true>);
        quoted.push(sse2::separators::<true, false>);
        both.push(sse2::separators::<true, true>);
        all.push(Vec::new());
        sse2::structurals(text, marks, &mut all[1]);
    }
    assert!(surveys.iter().all(|survey| *survey == checked::survey(text, marks)), "{surveys:?}");
    check_separators(text, marks, &plain, checked::separators::<false, false>(text, marks));
    check_separators(text, marks, &returns, checked::separators::<false, true>(text, marks));
    check_separators(text, marks, &quoted, checked::separators::<true, false>(text, marks));
    check_separators(text, marks, &both, checked::separators::<true, true>(text, marks));
    assert!(all.iter().all(|found| *found == checked::structurals(text, marks)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn vector_loops_equal_their_twins(text in texts()) {
        check(&text);
        check(&tame(&text));
    }
}

/// Texts of every length around the sizes of the stores.
fn parts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_pen_appends_like_a_vector(before: Vec<u8>, parts in parts()) {
        let (mut written, mut expected) = (before.clone(), before);
        {
            let mut pen = Pen::new(&mut written);
            for (index, part) in parts.iter().enumerate() {
                match part.first_chunk::<16>() {
                    _ if index % 5 == 0 => pen.append(|out| out.extend_from_slice(part)),
                    Some(chunk) if index % 3 == 0 => {
                        let length = part.len() % 17;
                        pen.put(*chunk, length);
                        expected.extend_from_slice(&chunk[..length]);
                        continue;
                    }
                    _ => pen.put_text(part),
                }
                expected.extend_from_slice(part);
            }
            pen.finish();
        }
        prop_assert_eq!(written, expected);
    }

    #[test]
    fn bytes_that_need_quotes_are_seen(bytes: [u8; 16], place in 0_usize..16, mark in prop_oneof![Just(b';'), Just(b'"'), Just(b'\n')]) {
        let marks = Marks { delimiter: b';', quote: b'"' };
        let mut marked = bytes;
        marked[place] = mark;
        prop_assert!(kernels::shapes(marked, marks));
        prop_assert_eq!(kernels::shapes(bytes, marks), checked::shapes(&bytes, marks));
    }

    #[test]
    fn views_hold_what_was_pushed(texts in prop::collection::vec("[a-zé]{0,16}", 0..20), cut in 0_usize..8) {
        let whole = texts.concat();
        let (mut views, mut expected, mut at) = (TextColumn::with_capacity(texts.len()), Vec::new(), 0);
        for text in &texts {
            let start = if text.is_char_boundary(cut.min(text.len())) { cut.min(text.len()) } else { 0 };
            views.push_part(&whole, at + start, at + text.len());
            expected.push(&text[start..]);
            at += text.len();
        }
        let Column::String(array) = views.finish(None) else { panic!("texts are a string column") };
        prop_assert_eq!(array.iter().map(|text| text.expect("no nulls")).collect::<Vec<_>>(), expected);
        let checked = StringViewArray::try_new(array.views().clone(), array.data_buffers().to_vec(), None);
        prop_assert!(checked.is_ok());
    }
}

#[test]
fn views_are_cut_between_characters_only() {
    let cut = |start, end| {
        std::panic::catch_unwind(|| TextColumn::with_capacity(1).push_part("aé and some more text", start, end))
    };
    assert!(cut(1, 3).is_ok());
    assert!(cut(2, 3).is_err() && cut(0, 2).is_err() && cut(0, 99).is_err() && cut(3, 1).is_err());
}
