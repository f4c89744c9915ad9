//! Records that are put in order on disk.

use clinker::exec::Silent;
use clinker::exec::memory::{Arbitrator, Charge};
use clinker::exec::spill::{Disk, DiskFaults, Merge, MergeError, Sorter};
use proptest::prelude::*;

type Record = (Vec<u8>, Vec<u8>);

/// What a sorter gives for some records; `None` if they don't fit a limit.
fn sorted(records: &[Record], limit: u64) -> Option<Vec<Record>> {
    let merged = in_order(records, limit, |sorter| sorter.merge());
    assert!(in_order(records, limit, |sorter| sorter.sorted()) == merged);
    assert!(in_order(records, limit, |sorter| sorter.at_most(limit / 8).sorted()) == merged);
    merged
}

fn in_order(
    records: &[Record],
    limit: u64,
    how: impl for<'p> FnOnce(Sorter<'p>) -> Result<Merge<'p>, MergeError>,
) -> Option<Vec<Record>> {
    let arbitrator = Arbitrator::new(limit, ["rows".to_string()]);
    let disk = Disk::new(std::env::temp_dir(), limit, ["rows".to_string()], DiskFaults::default(), &Silent);
    let mut sorter = Sorter::new(&disk, 0, Charge::new(&arbitrator, 0));
    for (key, payload) in records {
        within(sorter.push(key, payload))?;
    }
    let mut merge = within(how(sorter))?;
    let mut all = Vec::new();
    while let Some((key, payload)) = merge.next().expect("the disk works") {
        all.push((key.to_vec(), payload.to_vec()));
    }
    assert!(arbitrator.peak() <= limit);
    drop(merge);
    assert_eq!(arbitrator.over_soft(arbitrator.soft()), 0, "all is given back");
    Some(all)
}

fn within<T>(result: Result<T, MergeError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(MergeError::Exceeded(_) | MergeError::Giant { .. }) => None,
        Err(MergeError::Failed(failure)) => panic!("the disk works: {failure:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_come_in_order_and_equal_keys_as_they_came(
        records in prop::collection::vec(("[ab]{0,12}", "[x-z]{0,40}"), 0..3000),
        limit in 16_384..400_000u64,
    ) {
        let number = |(at, (key, payload)): (usize, &(String, String))| {
            (key.clone().into_bytes(), format!("{at} {payload}").into_bytes())
        };
        let records: Vec<Record> = records.iter().enumerate().map(number).collect();
        let mut expected = records.clone();
        expected.sort_by(|(left, _), (right, _)| left.cmp(right));
        prop_assert_eq!(sorted(&records, limit), Some(expected));
    }
}

#[test]
fn a_record_may_be_as_large_as_memory() {
    let record = |bytes: usize| (b"key".to_vec(), vec![7; bytes]);
    let small: Vec<Record> = (0..100).map(|_| record(50)).collect();
    let with = |bytes: usize| small.iter().cloned().chain([record(bytes)]).collect::<Vec<_>>();
    assert_eq!(sorted(&with(20_000), 65_536).map(|all| all.len()), Some(101));
    assert_eq!(sorted(&with(70_000), 65_536), None);
}

#[test]
fn few_records_need_no_disk() {
    let arbitrator = Arbitrator::new(1 << 20, ["rows".to_string()]);
    let nowhere = std::path::PathBuf::from("there/is/no/such/folder");
    let disk = Disk::new(nowhere, 1 << 20, ["rows".to_string()], DiskFaults::default(), &Silent);
    let mut sorter = Sorter::new(&disk, 0, Charge::new(&arbitrator, 0)).at_most(10_000);
    for key in [b"b", b"a"] {
        within(sorter.push(key, b"row")).expect("it fits");
    }
    let mut merge = within(sorter.sorted()).expect("it fits");
    let mut next = || merge.next().expect("no disk is asked").map(|(key, row)| (key.to_vec(), row.to_vec()));
    assert_eq!(next(), Some((b"a".to_vec(), b"row".to_vec())));
    assert_eq!(next(), Some((b"b".to_vec(), b"row".to_vec())));
    assert_eq!(next(), None);
    let mut full = Sorter::new(&disk, 0, Charge::new(&arbitrator, 0)).at_most(10_000);
    let failed = (0..1000).find_map(|_| full.push(b"key", &[7; 100]).err());
    assert!(matches!(failed, Some(MergeError::Failed(_))), "what is more goes to disk");
    assert!(arbitrator.peak_of(0) < 30_000);
}
