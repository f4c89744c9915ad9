//! Where columns come from: which of an edge still are declared columns of the source that drives it, and which of a
//! transform's output are columns of its input.

use crate::analysis::hir::{OutputColumn, Transform};
use crate::plan::physical::ColumnSet;

/// The origins of a source's own columns: each is itself.
pub fn of_source(width: usize) -> Vec<Option<usize>> {
    (0..width).map(Some).collect()
}

/// The origins of a transform's output columns, from those of its input: what it emits has none.
pub fn through_transform(transform: &Transform, input: &[Option<usize>]) -> Vec<Option<usize>> {
    let origin = |column: &OutputColumn| match column {
        OutputColumn::Input(position) => input[*position],
        OutputColumn::Emit(_) => None,
    };
    transform.output.iter().map(origin).collect()
}

/// The input columns that these output columns of a transform are.
pub fn inputs_of<'a>(transform: &'a Transform, outputs: &'a ColumnSet) -> impl Iterator<Item = usize> + 'a {
    outputs.iter().filter_map(|output| match transform.output[output] {
        OutputColumn::Input(position) => Some(position),
        OutputColumn::Emit(_) => None,
    })
}
