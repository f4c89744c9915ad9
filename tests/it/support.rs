//! What the tests share.

use std::collections::HashMap;
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
/// A trigger in another file is `elsewhere`. Ids have to increase, and triggers to be those that are their own.
pub fn settled(letters: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(letters.as_bytes());
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let records: Vec<Vec<String>> = reader
        .records()
        .map(|record| record.expect("a dead-letter file is CSV").iter().map(str::to_owned).collect())
        .collect();
    let Some((header, rows)) = records.split_first() else { return String::new() };
    writer.write_record(header).expect("memory can be written");
    assert!(rows.is_sorted_by(|one, next| one[0] < next[0]), "ids increase");
    let is_trigger = header.iter().position(|name| name == "_cxl_dlq_trigger").expect("it is always there");
    let names: HashMap<&str, String> =
        rows.iter().zip(1..).map(|(row, n)| (row[0].as_str(), format!("d{n}"))).collect();
    for row in rows {
        assert_eq!(row[1] == row[0], row[is_trigger] == "true", "a trigger is its own");
        assert!(row[2].ends_with('Z') && row[2].len() == 24, "{} is a time", row[2]);
        let mut fields = row.clone();
        fields[0] = names[row[0].as_str()].clone();
        fields[1] = names.get(row[1].as_str()).cloned().unwrap_or_else(|| "elsewhere".into());
        fields[2] = "T".into();
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
