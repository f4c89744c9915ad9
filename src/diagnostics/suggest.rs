//! "Did you mean": the closest known name to one that isn't known.

/// The candidate closest to `name`, if one is close enough to be meant.
///
/// Close means an edit distance (with swapped neighbours as one edit) of at most 3 and at most half the length of
/// the name, or equal but for case. A name of one letter is close to that letter alone. Ties go to the candidate that
/// comes first.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(name.chars().count() / 2, name, candidates)
}

/// The same for names of files, whose ending they have in common with most others: it does not count for the length.
pub fn closest_file<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    within(stem.chars().count() / 2, name, candidates)
}

fn within<'a>(half: usize, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = half.min(3);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { strsim::osa_distance(name, candidate) };
            (distance <= limit).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The column and the name in an entry such as `id as ID`.
pub fn column_as_name(entry: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = entry.split_whitespace().collect();
    match words.as_slice() {
        [column, word, output] if word.eq_ignore_ascii_case("as") => Some((column, output)),
        _ => None,
    }
}
