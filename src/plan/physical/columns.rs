//! Sets of columns of one schema.

/// A set of column positions of one schema.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColumnSet(Vec<bool>);

impl ColumnSet {
    /// No column of a schema of `width` columns.
    pub fn none(width: usize) -> Self {
        Self(vec![false; width])
    }

    /// Every column of a schema of `width` columns.
    pub fn all(width: usize) -> Self {
        Self(vec![true; width])
    }

    /// The first `count` columns of a schema of `width` columns.
    pub fn first(count: usize, width: usize) -> Self {
        Self((0..width).map(|position| position < count).collect())
    }

    /// Whether it holds the column at `position`.
    pub fn contains(&self, position: usize) -> bool {
        self.0.get(position).copied().unwrap_or(false)
    }

    /// Adds the column at `position`, which must lie inside the schema.
    pub fn insert(&mut self, position: usize) {
        self.0[position] = true;
    }

    /// Adds every column of another set over the same schema.
    pub fn union(&mut self, other: &ColumnSet) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Takes out every column of another set over the same schema.
    pub fn subtract(&mut self, other: &ColumnSet) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine &= !theirs;
        }
    }

    /// The positions it holds, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter_map(|(position, held)| held.then_some(position))
    }

    /// The number of columns of the schema.
    pub fn width(&self) -> usize {
        self.0.len()
    }
}
