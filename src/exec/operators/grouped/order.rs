//! The rows of all groups, a group behind the other.

/// All rows by group: those of a group by their keys, and then as they came. Rows are numbered as they came.
pub(in crate::exec::operators) struct GroupOrder {
    pub rows: Vec<u32>,
    /// For each group, where its rows end.
    pub ends: Vec<u32>,
}

impl GroupOrder {
    /// The most that making the order of so many rows takes, in bytes.
    pub fn most_bytes(rows: u64, groups: usize) -> u64 {
        rows * (size_of::<u32>() + size_of::<&[u8]>()) as u64 + (groups * 2 * size_of::<u64>()) as u64
    }

    /// What it holds, in bytes.
    pub fn cost(&self) -> u64 {
        ((self.rows.len() + self.ends.len()) * size_of::<u32>()) as u64
    }

    /// The order of rows of which `groups` are the groups and `keys` the keys, as they came. There are `count` groups.
    pub fn new(groups: impl Iterator<Item = u32> + Clone, keys: &[&[u8]], count: usize) -> Self {
        let mut counts = vec![0_u32; count];
        groups.clone().for_each(|group| counts[group as usize] += 1);
        // For each group, where its next row goes.
        let mut cursors = counts;
        let mut total = 0;
        for cursor in &mut cursors {
            let start = total;
            total += std::mem::replace(cursor, start);
        }
        let mut rows = vec![0; total as usize];
        for (row, group) in groups.enumerate() {
            let cursor = &mut cursors[group as usize];
            rows[*cursor as usize] = row as u32;
            *cursor += 1;
        }
        let mut order = Self { rows, ends: cursors };
        order.sort(keys);
        order
    }

    /// The rows of each group, in order.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.rows[start as usize..*end as usize])
    }

    fn sort(&mut self, keys: &[&[u8]]) {
        if keys.is_empty() {
            return;
        }
        let mut start = 0;
        for &end in &self.ends {
            // Stable: rows stand as they came.
            self.rows[start as usize..end as usize].sort_by_key(|row| keys[*row as usize]);
            start = end;
        }
    }
}
