//! The columns of an edge: those that names in the file mean, and behind them the hidden ones of the engine.

use crate::analysis::types::{Kind, Type};
use crate::diagnostics::Span;

/// The columns of an edge.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schema {
    /// In order.
    pub columns: Vec<Column>,
    /// Whether fields that no schema declares travel along.
    pub carries: bool,
}

impl Schema {
    /// Position of the column that the file means by `name`; never a hidden one.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.visible().iter().position(|column| column.name == name)
    }

    /// The columns that names in the file can mean. They stand in front of the hidden ones.
    pub fn visible(&self) -> &[Column] {
        let hidden = self.columns.iter().position(|column| column.hidden);
        &self.columns[..hidden.unwrap_or(self.columns.len())]
    }

    /// The hidden columns of correlation keys, with their positions.
    pub fn keys(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.hidden().filter(|(_, column)| column.is_key())
    }

    /// Position of the column of a stamp.
    pub fn stamp(&self, stamp: Stamp) -> Option<usize> {
        self.hidden().find(|(_, column)| column.stamp() == Some(stamp)).map(|(position, _)| position)
    }

    /// The hidden columns, with their positions: keys and stamps.
    pub fn hidden(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().skip(self.visible().len())
    }
}

/// A column of an edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it was declared or last emitted.
    pub span: Span,
    /// Whether it is an engine column that no plain name in the file can mean: a correlation key's `$ck.<field>`, which
    /// holds what the key's column held when the row was read, or a reshape's stamp `$meta.<stamp>`. Hidden columns
    /// stand behind all others, and travel through every node. A pass adds more, inside of a transform that it cuts.
    pub hidden: bool,
}

impl Column {
    /// What the name of a correlation key's hidden column begins with.
    pub const KEY_PREFIX: &str = "$ck.";

    /// Whether it is a correlation key's hidden column.
    pub fn is_key(&self) -> bool {
        self.key_field().is_some()
    }

    /// The field whose value a correlation key's hidden column holds; `None` for any other column.
    pub fn key_field(&self) -> Option<&str> {
        self.name.strip_prefix(Self::KEY_PREFIX).filter(|_| self.hidden)
    }

    /// The stamp that it holds; `None` for any other column.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::ALL.into_iter().find(|stamp| self.hidden && stamp.column_name() == self.name)
    }
}

/// What a reshape notes about each row that it gives, in a hidden column that travels with the row. A row that came
/// through no reshape has the empty stamps: not synthetic, and by no rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamp {
    /// `$meta.synthetic`: whether a rule added the row.
    Synthetic,
    /// `$meta.synthesized_by`: `node:rule` of that rule, or an empty text.
    SynthesizedBy,
    /// `$meta.mutated_by`: `node:rule` of each rule that rewrote it, with commas between.
    MutatedBy,
}

impl Stamp {
    /// All stamps, in the order of their columns.
    pub const ALL: [Stamp; 3] = [Stamp::Synthetic, Stamp::SynthesizedBy, Stamp::MutatedBy];

    /// Its name behind `$meta.`.
    pub fn name(self) -> &'static str {
        match self {
            Stamp::Synthetic => "synthetic",
            Stamp::SynthesizedBy => "synthesized_by",
            Stamp::MutatedBy => "mutated_by",
        }
    }

    /// The name of its hidden column, which is also how CXL reads it.
    pub fn column_name(self) -> &'static str {
        match self {
            Stamp::Synthetic => "$meta.synthetic",
            Stamp::SynthesizedBy => "$meta.synthesized_by",
            Stamp::MutatedBy => "$meta.mutated_by",
        }
    }

    /// Its type: a bool or a text, never null.
    pub fn ty(self) -> Type {
        Type::of(match self {
            Stamp::Synthetic => Kind::Bool,
            Stamp::SynthesizedBy | Stamp::MutatedBy => Kind::String,
        })
    }
}
