//! Records that were spilled come back in order, or not at all.

use clinker::diagnostics::Code;
use clinker::exec::memory::{Arbitrator, Charge};
use clinker::exec::spill::{Damage, Disk, DiskFaults, MergeError, Spilled, Volume};
use clinker::exec::{Failure, Silent};
use proptest::prelude::*;

type Record = (Vec<u8>, Vec<u8>);

/// A folder to spill to, and a memory limit.
struct Room {
    folder: tempfile::TempDir,
    arbitrator: Arbitrator,
    disk: Disk<'static>,
}

impl Room {
    fn new(limit: u64, faults: DiskFaults) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = Disk::new(folder.path().to_path_buf(), limit, ["state".to_string()], faults, &Silent);
        Self { folder, arbitrator: Arbitrator::new(limit, ["state".to_string()]), disk }
    }

    fn charge(&self) -> Charge<'_> {
        Charge::new(&self.arbitrator, 0)
    }

    /// Spills runs, sorted as they must be.
    fn spill(&self, runs: &[Vec<Record>]) -> Result<Spilled<'_>, Failure> {
        let mut spilled = Spilled::new(&self.disk, 0);
        for run in runs {
            let mut run = run.clone();
            run.sort_by(|left, right| left.0.cmp(&right.0));
            spilled.write(|writer| run.iter().try_for_each(|(key, payload)| writer.push(key, payload)))?;
        }
        Ok(spilled)
    }

    /// What comes back.
    fn read(&self, spilled: Spilled<'_>) -> Result<Vec<Record>, MergeError> {
        let mut merge = spilled.merge(self.charge())?;
        let mut records = Vec::new();
        while let Some((key, payload)) = merge.next()? {
            records.push((key.to_vec(), payload.to_vec()));
        }
        Ok(records)
    }

    fn is_left_clean(&self) -> bool {
        let is_empty = std::fs::read_dir(self.folder.path()).expect("the folder is there").next().is_none();
        is_empty && self.arbitrator.reserve(0, self.arbitrator.limit()).is_ok()
    }
}

/// What must come back: all records by key, equal keys as they were written.
fn in_order(runs: &[Vec<Record>]) -> Vec<Record> {
    let mut records = runs.concat();
    records.sort_by(|left, right| left.0.cmp(&right.0));
    records
}

fn record() -> impl Strategy<Value = Record> {
    let key = prop_oneof![
        4 => prop::collection::vec(0..3u8, 0..4),
        2 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::collection::vec(Just(0), 14..19),
    ];
    let payload = prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..30),
        1 => (900..1200_usize).prop_map(|length| vec![7; length]),
        1 => prop::collection::vec(any::<u8>(), 1000..3000),
    ];
    (key, payload)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_come_back_by_key_and_equal_keys_as_they_were_written(
        runs in prop::collection::vec(prop::collection::vec(record(), 0..20), 0..40),
        limit in prop::sample::select(vec![16_u64 << 10, 40 << 10, 1 << 20]),
    ) {
        let room = Room::new(limit, DiskFaults::default());
        let spilled = room.spill(&runs).expect("the disk works");
        let expected = in_order(&runs);
        prop_assert_eq!(spilled.records(), expected.len() as u64);
        prop_assert_eq!(spilled.is_empty(), expected.is_empty());
        prop_assert!(room.read(spilled).expect("it can be read") == expected);
        let written: usize = expected.iter().map(|(key, payload)| 8 + key.len() + payload.len()).sum();
        prop_assert!(room.disk.volume(0).raw >= written as u64);
        prop_assert!(room.is_left_clean());
    }
}

fn numbered(count: usize) -> Vec<Record> {
    (0..count).map(|n| (format!("{:05}", n * 7919 % count).into_bytes(), n.to_string().into_bytes())).collect()
}

#[test]
fn more_runs_than_may_be_open_are_merged_in_passes() {
    let records = numbered(3000);
    let runs: Vec<Vec<Record>> = records.chunks(10).map(<[Record]>::to_vec).collect();
    let room = Room::new(16 << 10, DiskFaults::default());
    let spilled = room.spill(&runs).expect("the disk works");
    assert_eq!(spilled.runs(), 300);
    let once = room.disk.volume(0);
    assert!(room.read(spilled).expect("it can be read") == in_order(&runs));
    let Volume { raw, stored } = room.disk.volume(0);
    assert!(raw > 3 * once.raw && stored < raw, "some passes, and less is stored than {raw}: {stored}");
    assert!(room.arbitrator.peak() <= 16 << 10);
    assert!(room.is_left_clean());
}

#[test]
#[cfg(target_os = "linux")]
fn only_its_owner_may_open_what_is_spilled() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new(1 << 20, DiskFaults::default());
    let _spilled = room.spill(&[numbered(300)]).expect("the disk works");
    let open = std::fs::read_dir("/proc/self/fd").expect("the system tells").flatten().map(|entry| entry.path());
    let is_spilled =
        |path: &std::path::PathBuf| path.read_link().is_ok_and(|file| file.starts_with(room.folder.path()));
    let modes: Vec<u32> = open
        .filter(is_spilled)
        .map(|path| std::fs::metadata(path).expect("it is open").permissions().mode() & 0o777)
        .collect();
    assert_eq!(modes, [0o600]);
}

#[test]
fn what_comes_in_order_is_one_run() {
    let mut records = numbered(3000);
    records.sort();
    let room = Room::new(16 << 10, DiskFaults::default());
    let in_order: Vec<Vec<Record>> = records.chunks(10).map(<[Record]>::to_vec).collect();
    let without_keys: Vec<Vec<Record>> =
        numbered(300).into_iter().map(|(_, payload)| vec![(Vec::new(), payload)]).collect();
    for runs in [in_order, without_keys] {
        let spilled = room.spill(&runs).expect("the disk works");
        assert_eq!(spilled.runs(), 1);
        let before = room.disk.volume(0);
        assert!(room.read(spilled).expect("it can be read") == runs.concat());
        assert_eq!(room.disk.volume(0), before, "nothing was merged");
    }
}

#[test]
fn a_record_larger_than_a_frame_needs_its_own_room_only() {
    let giant = |key: u8, length: usize| (vec![key; 20], vec![key; length]);
    let small = |key: u8| (vec![key], vec![key]);
    let runs = vec![vec![giant(3, 300_000), small(1)], vec![small(2), giant(2, 70_000)], vec![giant(1, 100), small(9)]];
    for (limit, fits) in [(1 << 20, true), (500_000, true), (300_000, false), (100_000, false)] {
        let room = Room::new(limit, DiskFaults::default());
        let spilled = room.spill(&runs).expect("the disk works");
        match room.read(spilled) {
            Ok(records) => assert!(fits && records == in_order(&runs), "{limit}"),
            Err(MergeError::Giant { bytes, exceeded }) => {
                assert!(!fits && bytes == 300_028 && exceeded.limit == limit, "{bytes} {exceeded:?}");
            }
            Err(error) => panic!("{limit}: {error:?}"),
        }
        assert!(room.is_left_clean(), "{limit}");
    }
}

#[test]
fn merging_needs_room_for_two_frames() {
    let runs: Vec<Vec<Record>> = numbered(3000).chunks(1000).map(<[Record]>::to_vec).collect();
    let room = Room::new(32 << 10, DiskFaults::default());
    for (free, fits) in [(32 << 10, true), (6 << 10, true), (4 << 10, false), (0, false)] {
        let spilled = room.spill(&runs).expect("the disk works");
        let mut others = room.charge();
        others.take((32 << 10) - free).expect("it fits");
        match room.read(spilled) {
            Ok(records) => assert!(fits && records == in_order(&runs), "{free}"),
            Err(MergeError::Exceeded(_)) => assert!(!fits, "{free}"),
            Err(error) => panic!("{free}: {error:?}"),
        }
    }
}

/// The code of the failure, writing or reading these runs.
fn outcome(room: &Room, runs: &[Vec<Record>]) -> Option<Code> {
    let outcome = room.spill(runs).map_err(MergeError::Failed).and_then(|spilled| room.read(spilled));
    assert!(room.is_left_clean());
    match outcome {
        Ok(records) => {
            assert!(records == in_order(runs));
            None
        }
        Err(MergeError::Failed(failure)) => {
            assert_eq!(failure.exit_code, 4);
            Some(failure.diagnostic.expect("a reason").code)
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn each_write_and_each_read_may_fail() {
    let runs: Vec<Vec<Record>> = numbered(300).chunks(10).map(<[Record]>::to_vec).collect();
    let failing = |faults: DiskFaults| outcome(&Room::new(8 << 10, faults), &runs);
    let mut failed = 0;
    for number in 1..200 {
        let write = failing(DiskFaults { write: Some(number), ..DiskFaults::default() });
        let full = failing(DiskFaults { full: Some(number), ..DiskFaults::default() });
        let read = failing(DiskFaults { read: Some(number), ..DiskFaults::default() });
        assert!([None, Some(Code::E320)].contains(&write) && [None, Some(Code::E320)].contains(&read), "{number}");
        assert_eq!(write.is_some(), full == Some(Code::E321), "{number}");
        failed += usize::from(write.is_some()) + usize::from(read.is_some());
    }
    assert!((100..300).contains(&failed), "some come behind the last one: {failed}");
}

#[test]
fn a_bit_that_is_not_as_it_was_written_is_noticed() {
    let incompressible: Vec<u8> = (0..40_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let plain = vec![vec![(b"key".to_vec(), incompressible)]];
    let compressed = vec![numbered(30)];
    for runs in [plain, compressed] {
        let whole = Room::new(1 << 20, DiskFaults::default());
        assert_eq!(outcome(&whole, &runs), None);
        let length = whole.disk.volume(0).stored as usize;
        for (byte, bit) in (0..length).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
            let faults = DiskFaults { damage: Some((1, Damage { byte, bit })), ..DiskFaults::default() };
            let room = Room::new(1 << 20, faults);
            assert_eq!(outcome(&room, &runs), Some(Code::E320), "bit {bit} of byte {byte} of {length}");
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let room = Room::new(1 << 20, DiskFaults::default());
    let folder = room.folder.path().join("gone");
    let disk = Disk::new(folder.clone(), 1 << 20, ["state".to_string()], DiskFaults::default(), &Silent);
    let failure = Spilled::new(&disk, 0).write(|writer| writer.push(b"", b"")).expect_err("there is no folder");
    let diagnostic = failure.diagnostic.expect("a reason");
    assert_eq!(diagnostic.code, Code::E320);
    assert!(diagnostic.message.contains(&folder.display().to_string()), "{}", diagnostic.message);
}
