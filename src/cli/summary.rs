//! The closing screen of a run: what went through each node, where the outputs and the dead letters are, time and
//! memory.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use crate::exec::{NodeReport, PublishedFile, Report};

/// The summary as text: the first line for programs, then one screen for people. Paths are shown as they can be opened
/// from where the program runs: below `base_dir`.
pub fn summary(report: &Report, base_dir: &Path, peak_resident: Option<u64>) -> String {
    let Report { total, ok, written, dlq, .. } = report;
    let mut text = format!("Pipeline complete: {total} total, {ok} ok, {written} written, {dlq} dlq\n");
    if let Some(line) = made_line(report.made) {
        let _ = writeln!(text, "{line}");
    }
    text.push_str(&node_table(&report.nodes));
    text.push_str(&output_table(&report.outputs, base_dir));
    if let Some(line) = dead_letter_line(report, base_dir) {
        let _ = write!(text, "\n{line}\n");
    }
    let _ = write!(text, "\n{}\n", resources(report, peak_resident));
    text.push_str(&spill_volume(report));
    text
}

/// What `ok` leaves out: rows that no file had.
fn made_line(made: u64) -> Option<String> {
    match made {
        0 => None,
        1 => Some("ok counts rows that were read; an aggregate made 1 more that was written".to_owned()),
        _ => Some(format!("ok counts rows that were read; aggregates made {made} more that were written")),
    }
}

/// What each stage put on disk; nothing if none did.
fn spill_volume(report: &Report) -> String {
    let spilling: Vec<_> = report.consumers.iter().filter(|consumer| consumer.spilled.stored > 0).collect();
    if spilling.is_empty() {
        return String::new();
    }
    let line = |name: &str, stored: u64, raw: u64| {
        vec![name.to_owned(), format!("{} bytes", grouped(stored)), format!("{} before compression", grouped(raw))]
    };
    let mut rows: Vec<_> = spilling.iter().map(|one| line(&one.name, one.spilled.stored, one.spilled.raw)).collect();
    let (stored, raw) =
        spilling.iter().fold((0, 0), |(stored, raw), one| (stored + one.spilled.stored, raw + one.spilled.raw));
    rows.push(line("total", stored, raw));
    format!("\n=== Spill Volume (actual, per stage) ===\n{}", table(&rows).trim_start_matches('\n'))
}

/// The most memory the process ever had resident, where the system tells.
pub fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn node_table(nodes: &[NodeReport]) -> String {
    /// What a node has in a column; none where it doesn't apply.
    type Cell = fn(&NodeReport) -> Option<u64>;
    let columns: [(&str, Cell); 8] = [
        ("rows in", |node| Some(node.rows_in)),
        ("rows out", |node| Some(node.rows_out)),
        ("kept", |node| node.removed.map(|removed| node.rows_out - removed)),
        ("removed", |node| node.removed),
        ("rejected", |node| Some(node.rejected)),
        ("filtered", |node| Some(node.filtered)),
        ("duplicates", |node| Some(node.duplicates)),
        ("warned", |node| Some(node.warned)),
    ];
    let is_shown = |(name, cell): &(&str, Cell)| match *name {
        "rows in" | "rows out" | "rejected" => true,
        "kept" | "removed" => nodes.iter().any(|node| cell(node).is_some()),
        _ => nodes.iter().any(|node| cell(node) > Some(0)),
    };
    let columns: Vec<_> = columns.into_iter().filter(is_shown).collect();
    let mut rows = vec![heading("node", columns.iter().map(|(name, _)| *name))];
    rows.extend(nodes.iter().map(|node| {
        let cells = columns.iter().map(|(_, cell)| cell(node).map(grouped).unwrap_or_default());
        std::iter::once(node.label.clone()).chain(cells).collect()
    }));
    table(&rows)
}

fn output_table(outputs: &[PublishedFile], base_dir: &Path) -> String {
    if outputs.is_empty() {
        return String::new();
    }
    let mut rows = vec![heading("output", ["rows"])];
    let name = |file: &PublishedFile| {
        format!("{}{}", shown(file, base_dir), if file.dead_letters { " (dead letters)" } else { "" })
    };
    rows.extend(outputs.iter().map(|file| vec![name(file), grouped(file.rows)]));
    table(&rows)
}

/// The path of a published file from where the program runs.
fn shown(file: &PublishedFile, base_dir: &Path) -> String {
    let path = base_dir.join(&file.path);
    path.strip_prefix(".").unwrap_or(&path).display().to_string()
}

fn heading<'a>(first: &'a str, others: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    std::iter::once(first).chain(others).map(str::to_owned).collect()
}

/// Rows as a table below an empty line: the first column to the left, numbers to the right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let mut text = String::from("\n");
    for row in rows {
        let mut line = format!("  {:width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `3 rows rejected, see dlq.csv`; nothing if none were.
pub(super) fn dead_letter_line(report: &Report, base_dir: &Path) -> Option<String> {
    let rejected = match report.dlq {
        0 => return None,
        1 => "1 row rejected".to_owned(),
        count => format!("{count} rows rejected"),
    };
    let written = report.outputs.iter().filter(|file| file.dead_letters && file.rows > 0);
    let files: Vec<_> = written.map(|file| shown(file, base_dir)).collect();
    Some(match files.as_slice() {
        [] => format!("{rejected}, written nowhere: the pipeline has no `error_handling.dlq.path`"),
        files => format!("{rejected}, see {}", files.join(", ")),
    })
}

fn resources(report: &Report, peak_resident: Option<u64>) -> String {
    let read = size(report.bytes_read);
    let mut text = format!("{} read in {}", read, duration(report.elapsed));
    if let Some(peak) = peak_resident {
        let _ = write!(text, ", peak memory {}", size(peak));
    }
    if report.peak_reserved > 0 {
        let _ = write!(text, ", {} reserved", size(report.peak_reserved));
    }
    text
}

/// Digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes with a suffix that memory sizes have too: powers of 1024.
pub(super) fn size(bytes: u64) -> String {
    let (factor, suffix) = match bytes {
        0..1024 => return format!("{bytes}B"),
        1024..0x10_0000 => (1024.0, 'K'),
        0x10_0000..0x4000_0000 => (1_048_576.0, 'M'),
        _ => (1_073_741_824.0, 'G'),
    };
    format!("{:.1}{suffix}", bytes as f64 / factor)
}

pub(super) fn duration(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0 if elapsed.as_millis() < 10 => format!("{:.1} ms", elapsed.as_secs_f64() * 1e3),
        0 => format!("{} ms", elapsed.as_millis()),
        1..60 => format!("{:.2} s", elapsed.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
