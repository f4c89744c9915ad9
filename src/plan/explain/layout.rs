//! How numbers, tables and lists are laid out in text.

/// Where lists of names are broken.
const WIDTH: usize = 110;

/// A number of bytes, base 1024, rounded to three digits: `97B`, `1.5K`, `512M`.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "K", "M"] {
        if value < 1024.0 {
            return number(value, unit);
        }
        value /= 1024.0;
    }
    number(value, "G")
}

fn number(value: f64, unit: &str) -> String {
    if value.fract() == 0.0 || value >= 100.0 { format!("{value:.0}{unit}") } else { format!("{value:.1}{unit}") }
}

/// An estimate with two digits that count: `about 65306` claims more than is known.
pub fn rough(number: u64) -> String {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    let digits = (number / unit * unit).to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// The same for a bound: never less than the number.
pub fn rough_most(number: u64) -> String {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    rough(number.div_ceil(unit).saturating_mul(unit))
}

/// A share as a percentage, with no more digits than it has.
pub fn percent(share: f64) -> String {
    let rounded = (share * 1e6).round() / 1e4;
    format!("{rounded} %")
}

/// Rows with aligned cells; the last cell of a row is not padded, and empty columns take no room. A cell wider than a
/// line sticks out instead of moving all others.
pub fn table(rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let mut widths = Vec::new();
    for (column, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        widths.resize(widths.len().max(column + 1), 0);
        widths[column] = cell.chars().count().min(WIDTH).max(widths[column]);
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("  {}", cells.join("  ")).trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// Blocks with an empty line between them.
pub fn blocks(blocks: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let blocks: Vec<Vec<String>> = blocks.into_iter().collect();
    blocks.join(&String::new())
}

/// Names behind a head, on as many lines as they need, aligned behind the head.
pub fn list(head: &str, names: &[String]) -> Vec<String> {
    let indent = " ".repeat(head.chars().count());
    let mut lines = vec![head.to_string()];
    for (position, name) in names.iter().enumerate() {
        let comma = if position + 1 < names.len() { ", " } else { "" };
        let line = lines.last().expect("there is the head");
        if position > 0 && line.chars().count() + name.chars().count() > WIDTH {
            lines.push(indent.clone());
        }
        lines.last_mut().expect("there is the head").push_str(&format!("{name}{comma}"));
    }
    lines.into_iter().map(|line| line.trim_end().to_string()).collect()
}

/// A number with its noun.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
