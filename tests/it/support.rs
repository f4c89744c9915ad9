//! What the tests share.

use std::path::{Path, PathBuf};

/// The folder of the crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path inside the crate's folder.
pub fn path(relative: &str) -> PathBuf {
    root().join(relative)
}

/// Every file below a folder, sorted by path.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A dead-letter file without what differs from run to run: ids become `d1`, `d2`, … in order of appearance, times `T`.
/// Ids have to increase, and every dead letter to be its own trigger.
pub fn settled(letters: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(letters.as_bytes());
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let mut last_id = String::new();
    for (number, record) in reader.records().enumerate() {
        let mut fields: Vec<String> = record.expect("a dead-letter file is CSV").iter().map(str::to_owned).collect();
        if number > 0 {
            assert!(fields[0] > last_id, "ids increase");
            assert_eq!(fields[1], fields[0], "every dead letter is its own trigger");
            assert!(fields[2].ends_with('Z') && fields[2].len() == 24, "{} is a time", fields[2]);
            let id = format!("d{number}");
            last_id = std::mem::replace(&mut fields[0], id.clone());
            fields.splice(1..3, [id, "T".to_owned()]);
        }
        writer.write_record(&fields).expect("memory can be written");
    }
    String::from_utf8(writer.into_inner().expect("memory can be written")).expect("it was text")
}

/// Compares `text` with the snapshot `snapshots/<name>.snap`; `name` may hold folders.
pub fn assert_snapshot(name: &str, text: &str) {
    let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
