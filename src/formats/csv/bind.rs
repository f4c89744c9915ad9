//! Binds a file's fields to the declared columns.

use super::{Binding, BindingError};
use crate::analysis::hir::SourceColumn;

/// Binds a file's header (or, without one, its width) to the declared columns.
///
/// With a header, names are compared exactly and the order in the file is free; without one, columns are bound by
/// position and the surplus fields are called `col_<i>`, counted from 0. Fails with all columns that the header
/// lacks, else with the first one that stands twice there, or, if the extra fields are carried, with a name that two of
/// them share.
pub fn bind(
    columns: &[SourceColumn],
    header: Option<&[String]>,
    width: usize,
    carries: bool,
) -> Result<Binding, BindingError> {
    let declared = match header {
        Some(names) => bind_by_name(columns, names)?,
        None if width < columns.len() => return Err(BindingError::TooNarrow { found: width }),
        None => (0..columns.len()).collect(),
    };
    let name = |field: usize| header.map_or_else(|| format!("col_{field}"), |names| names[field].clone());
    let extra: Vec<_> =
        (0..width).filter(|field| !declared.contains(field)).map(|field| (field, name(field))).collect();
    if carries {
        refuse_shared_names(&extra)?;
    }
    Ok(Binding { declared, extra, width })
}

fn bind_by_name(columns: &[SourceColumn], names: &[String]) -> Result<Vec<usize>, BindingError> {
    let is_missing = |column: &usize| !names.contains(&columns[*column].header);
    let missing: Vec<usize> = (0..columns.len()).filter(is_missing).collect();
    if !missing.is_empty() {
        return Err(BindingError::Missing { columns: missing });
    }
    let bound = columns.iter().enumerate().map(|(column, declared)| {
        let positions = names.iter().enumerate().filter(|(_, name)| **name == declared.header).map(|(at, _)| at);
        match positions.collect::<Vec<_>>()[..] {
            [first, second, ..] => Err(BindingError::Duplicate { column, positions: (first, second) }),
            [only] => Ok(only),
            [] => Err(BindingError::Missing { columns: vec![column] }),
        }
    });
    bound.collect()
}

fn refuse_shared_names(extra: &[(usize, String)]) -> Result<(), BindingError> {
    for (index, (field, name)) in extra.iter().enumerate() {
        if let Some((first, _)) = extra[..index].iter().find(|(_, earlier)| earlier == name) {
            return Err(BindingError::DuplicateExtra { name: name.clone(), positions: (*first, *field) });
        }
    }
    Ok(())
}
