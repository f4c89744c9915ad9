//! What has a value for a whole group, and what for a row of it.
//!
//! Expressions over groups have two zones. Around aggregates stands what all rows of a group share: the columns that
//! make it, and lets over these alone. In an aggregate's argument, and in the statements that work on rows, stands
//! whatever a row has, but nothing that is known only when the group is complete.

use super::operators::is_number;
use super::{Checker, failed};
use crate::analysis::hir::{Aggregate, Expr, ExprKind, Slot, Statement, Variable};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::ast::Name;

/// Which kind of node makes the groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::analysis) enum Grouping {
    /// A cull, whose predicates know nothing of a null.
    Cull,
    /// An aggregate.
    Aggregate,
}

impl Grouping {
    /// The key that lists the columns of a group.
    fn list(self) -> &'static str {
        match self {
            Grouping::Cull => "partition_by",
            Grouping::Aggregate => "group_by",
        }
    }
}

/// Where in a program over groups something stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Zone {
    /// Where a group has one value.
    Group,
    /// In an aggregate's argument.
    Argument,
    /// In a `let`.
    Let,
    /// In a `filter`.
    Filter,
    /// In an expression whose value is dropped.
    Dropped,
}

/// What a checker of expressions over groups knows.
pub(super) struct Group {
    grouping: Grouping,
    /// The input columns that all rows of a group share, by position.
    pub shared: Vec<usize>,
    /// Names that were to be shared but aren't known, which is reported.
    unknown: Vec<String>,
    /// The aggregates found so far.
    pub aggregates: Vec<Aggregate>,
    /// How they are written, one for each.
    pub written: Vec<Written>,
    /// The emit that is checked.
    pub emit: String,
    zone: Zone,
    /// The program's lets, by slot.
    row_lets: Vec<RowLet>,
    /// Those that are computed for groups, by slot, and what is computed for groups so far.
    pub lets: Vec<Slot>,
    pub statements: Vec<Statement>,
    /// Names already reported as not shared.
    reported: Vec<String>,
    /// The aggregate of the same name as the method that is called on what is checked.
    pub meant: Option<&'static str>,
}

/// How an aggregate is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::analysis) struct Written {
    /// The whole call: `sum(price * quantity)`.
    pub text: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The emit that it stands in first.
    pub emit: String,
}

/// A let of the program, which is computed for each row.
struct RowLet {
    value: Expr,
    /// What it reads that can differ within a group.
    differs: Option<Differs>,
    /// Its slot among the lets that are computed for groups, too.
    slot: Option<usize>,
}

/// What can differ within a group, and where it is read.
#[derive(Clone)]
struct Differs {
    name: String,
    span: Span,
}

impl Checker<'_> {
    /// Makes it a checker of expressions over groups whose rows share these columns of the input. `unknown` are names
    /// of shared columns that were not found, and are reported.
    pub fn over_groups(mut self, grouping: Grouping, shared: Vec<usize>, unknown: Vec<String>) -> Self {
        self.group = Some(Group {
            grouping,
            shared,
            unknown,
            aggregates: Vec::new(),
            written: Vec::new(),
            emit: String::new(),
            zone: Zone::Group,
            row_lets: Vec::new(),
            lets: Vec::new(),
            statements: Vec::new(),
            reported: Vec::new(),
            meant: None,
        });
        self
    }

    /// Whether what is checked sees groups instead of rows.
    pub(super) fn sees_groups(&self) -> bool {
        self.zone() == Some(Zone::Group)
    }

    /// Whether a comparison with null is null, also by `==` and `!=`.
    pub(super) fn null_is_unknown(&self) -> bool {
        self.sees_groups() && self.group.as_ref().is_some_and(|group| group.grouping == Grouping::Cull)
    }

    /// Where in a program over groups the checker is, if it is in one.
    pub(super) fn zone(&self) -> Option<Zone> {
        self.group.as_ref().map(|group| group.zone)
    }

    /// Checks something that stands in another zone.
    pub(super) fn in_zone<T>(&mut self, zone: Zone, check: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.group.as_mut().map(|group| std::mem::replace(&mut group.zone, zone));
        let checked = check(self);
        if let (Some(group), Some(outer)) = (&mut self.group, outer) {
            group.zone = outer;
        }
        checked
    }

    /// Whether the name was to be a shared column, and is reported as unknown.
    pub(super) fn unknown_shared(&self, name: &str) -> bool {
        self.group.as_ref().is_some_and(|group| group.unknown.iter().any(|unknown| unknown == name))
    }

    /// What a bare name of the input, a let or an emit is in the zone where it stands; reported if it has no value
    /// there.
    pub(super) fn in_group(&mut self, read: Expr) -> Expr {
        match (self.zone(), &read.kind) {
            (Some(Zone::Group), ExprKind::Column(position)) => self.shared_column(*position, read),
            (Some(Zone::Group), ExprKind::Let(slot)) => self.shared_let(*slot, read),
            (Some(Zone::Group) | None, _) => read,
            (Some(zone), ExprKind::Emit(slot)) => {
                let name = self.emits[*slot].name.clone();
                self.too_early(zone, &format!("`{name}`"), read.span)
            }
            _ => read,
        }
    }

    fn shared_column(&mut self, position: usize, read: Expr) -> Expr {
        let group = self.group.as_ref().expect("a zone is that of a group");
        if let Some(index) = group.shared.iter().position(|shared| *shared == position) {
            return Expr { kind: ExprKind::Column(index), ..read };
        }
        let name = self.row.schema.columns[position].name.clone();
        self.differs(&name, &read, None);
        failed(read.span)
    }

    /// A let has a value for a group if all that it reads has one; it is then computed for groups as well.
    fn shared_let(&mut self, slot: usize, read: Expr) -> Expr {
        let group = self.group.as_ref().expect("a zone is that of a group");
        if let Some(differs) = group.row_lets[slot].differs.clone() {
            let name = self.lets[slot].name.clone();
            self.differs(&name, &read, Some(&differs));
            return failed(read.span);
        }
        if read.ty.is_error() {
            return failed(read.span);
        }
        Expr { kind: ExprKind::Let(self.group_let(slot)), ..read }
    }

    /// Reports what can differ within a group where the group's value is wanted, once for each name.
    fn differs(&mut self, name: &str, read: &Expr, because: Option<&Differs>) {
        let group = self.group.as_mut().expect("a zone is that of a group");
        if !group.unknown.is_empty() || read.ty.is_error() || group.reported.iter().any(|reported| reported == name) {
            return;
        }
        group.reported.push(name.to_owned());
        let list = group.grouping.list();
        let example = group.meant.unwrap_or(if is_number(&read.ty.kind) { "sum" } else { "max" });
        let field = because.map_or(name, |because| &because.name);
        let message =
            format!("field '{field}' must appear in the GROUP BY list or be used inside an aggregate function");
        let diagnostic = Diagnostic::error(Code::E200, message);
        let diagnostic = match group.grouping {
            Grouping::Cull => diagnostic.note(format!("the GROUP BY list of a cull is its `{list}`")),
            Grouping::Aggregate => diagnostic,
        };
        let aggregate = format!("use it in an aggregate such as `{example}({name})`");
        self.error(match because {
            Some(Differs { name: field, span }) => diagnostic
                .label(read.span, format!("`{name}` has a value for each row of a group, and they can differ"))
                .label(*span, format!("it reads `{field}`, which `{list}` does not name"))
                .help(format!("{aggregate}, or compute it from the columns of `{list}` alone")),
            None if self.emits.iter().any(|emit| emit.name == name) => diagnostic
                .label(read.span, "has a value for each row of a group, and they can differ")
                .note(format!("`{name}` is a column of the input here, not the emit of that name"))
                .help(format!("{aggregate}; to read the emit, give it another name")),
            None => diagnostic
                .label(read.span, "has a value for each row of a group, and they can differ")
                .help(format!("{aggregate}, or add it to `{list}`")),
        });
    }

    /// Takes note of a let, which has the last slot.
    pub(super) fn remember_let(&mut self, value: &Expr) {
        let differs = self.what_differs(value);
        let group = self.group.as_mut().expect("lets over groups stand in a program over groups");
        group.row_lets.push(RowLet { value: value.clone(), differs, slot: None });
    }

    /// The first thing in an expression over rows that can differ within a group.
    fn what_differs(&self, value: &Expr) -> Option<Differs> {
        let group = self.group.as_ref()?;
        value.parts().find_map(|part| {
            let differs = |name: &str| Some(Differs { name: name.to_owned(), span: part.span });
            match part.kind {
                ExprKind::Column(position) if !group.shared.contains(&position) => {
                    differs(&self.row.schema.columns[position].name)
                }
                ExprKind::Let(slot) => group.row_lets[slot].differs.clone(),
                ExprKind::Variable(Variable::SourceFile) => differs("$source.file"),
                ExprKind::Variable(Variable::SourceName) => differs("$source.name"),
                ExprKind::Variable(Variable::SourceRow) => differs("$source.row"),
                _ => None,
            }
        })
    }

    /// The slot of a let among those that are computed for groups; it and those that it reads become some.
    fn group_let(&mut self, slot: usize) -> usize {
        let group = self.group.as_mut().expect("a zone is that of a group");
        let mut needed = vec![slot];
        let mut next = 0;
        while let Some(slot) = needed.get(next) {
            for part in group.row_lets[*slot].value.parts() {
                match part.kind {
                    ExprKind::Let(read) if !needed.contains(&read) => needed.push(read),
                    _ => {}
                }
            }
            next += 1;
        }
        // A let reads only those above it.
        needed.sort_unstable();
        for slot in needed {
            let name = &self.lets[slot].name;
            group.compute_let(slot, name);
        }
        group.row_lets[slot].slot.expect("it was computed just now")
    }

    /// Reports a variable of a single row where groups are seen.
    pub(super) fn row_variable(&mut self, scope: &Name, member: &Name, span: Span) -> Expr {
        let written = format!("${}.{}", scope.text, member.text);
        let message = format!("`{written}` belongs to a row, and a group has many");
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(span, "has a value for each row")
            .help(format!("use it in an aggregate, such as `max({written})`"));
        self.error(diagnostic);
        failed(span)
    }

    /// Reports what is known only for complete groups where rows are worked on: an aggregate, or an emit. `what` is
    /// its name for messages, `span` what to point at.
    pub(super) fn too_early(&mut self, zone: Zone, what: &str, span: Span) -> Expr {
        let (code, message, help) = match zone {
            Zone::Group | Zone::Argument => (
                Code::E200,
                format!("an aggregate takes a value of each row, and {what} belongs to the whole group"),
                "to aggregate once more, put a second aggregate behind this one",
            ),
            Zone::Let => (
                Code::E381,
                format!("a `let` is computed for each row, and {what} belongs to the whole group"),
                "write it into an `emit`; an emit can read those above it",
            ),
            Zone::Filter => (
                Code::E200,
                format!("a `filter` drops rows before they are grouped, and {what} belongs to the whole group"),
                "to drop whole groups, emit the value and put a transform with the `filter` behind this node",
            ),
            Zone::Dropped => {
                (Code::E200, format!("{what} is computed here for nothing"), "give it a name: `emit <name> = …`")
            }
        };
        let label = if zone == Zone::Dropped { "goes nowhere" } else { "known when the group is complete" };
        self.error(Diagnostic::error(code, message).label(span, label).help(help));
        failed(span)
    }
}

impl Group {
    /// Makes a let one that is computed for groups, if it isn't yet. Those that it reads are some already.
    fn compute_let(&mut self, slot: usize, name: &str) {
        if self.row_lets[slot].slot.is_some() {
            return;
        }
        let mut value = self.row_lets[slot].value.clone();
        value.rewrite(&mut |part| match &mut part.kind {
            ExprKind::Column(column) => {
                let shared = self.shared.iter().position(|shared| shared == column);
                *column = shared.expect("a let over other columns has no value for groups");
            }
            ExprKind::Let(read) => *read = self.row_lets[*read].slot.expect("lets are taken in their order"),
            _ => {}
        });
        let own = self.lets.len();
        self.row_lets[slot].slot = Some(own);
        self.lets.push(Slot { name: name.to_owned(), ty: value.ty.clone() });
        self.statements.push(Statement::Let { slot: own, value });
    }
}
