//! The loops with `unsafe` in them against their plain twins.

use clinker::formats::csv::kernels::{self, LineEnds, Marks, Survey, checked};
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

type FindAll = fn(&[u8], Marks, &mut Vec<u32>) -> Option<LineEnds>;

fn check_separators(text: &[u8], marks: Marks, kernels: &[FindAll], expected: Option<(Vec<u32>, LineEnds)>) {
    for kernel in kernels {
        let mut found = vec![7];
        let line_ends = kernel(text, marks, &mut found);
        found.remove(0);
        assert_eq!(line_ends.map(|ends| (found, ends)), expected);
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
