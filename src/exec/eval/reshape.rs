//! Reshapes: rules that rewrite rows and add new ones. Every expression sees the rows as they came in.

use std::sync::Arc;

use super::Constants;
use super::compile::compile;
use super::datum::Datum;
use super::error::Faults;
use super::frame::Frame;
use super::live::Live;
use super::node::Node;
use super::operators::choose::{Part, choose};
use crate::analysis::hir::{self, Assignment, ReshapeRule, Schema, Stamp};
use crate::analysis::types::Kind;
use crate::diagnostics::Span;
use crate::exec::batch::{Batch, Bitmap, Carried, Column};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::value::Value;
use crate::plan::physical::ColumnSet;

/// A compiled reshape. Shared by all workers.
#[derive(Debug)]
pub struct Reshape {
    constants: Arc<Constants>,
    rules: Vec<Rule>,
    /// The kind of each column that is kept of the output.
    kept: Vec<Option<Kind>>,
    /// The columns that a new row always has from its trigger.
    hidden_keys: Vec<usize>,
    /// The stamps' columns: synthetic, synthesized by, mutated by.
    stamps: [usize; 3],
}

#[derive(Debug)]
struct Rule {
    name: String,
    /// What stamps call it: `node:rule`.
    label: String,
    when: Node,
    set: Vec<Assigned>,
    synthesis: Option<Synthesis>,
}

#[derive(Debug)]
struct Assigned {
    column: usize,
    name: Arc<str>,
    value: Node,
    span: Span,
}

#[derive(Debug)]
struct Synthesis {
    copies_trigger: bool,
    overrides: Vec<Assigned>,
}

/// What became of the rows of a batch.
#[derive(Debug)]
pub struct Reshaped {
    /// The rows, rewritten where a rule set something; those that failed are of no use.
    pub rows: Batch,
    /// Which of them were rewritten.
    pub rewritten: Bitmap,
    /// What each rule added, in order.
    pub added: Vec<Added>,
    /// The failures, one for each failed row, ascending by row.
    pub failures: Vec<RuleFault>,
}

/// The rows that a rule added.
#[derive(Debug)]
pub struct Added {
    /// The rule, as a position.
    pub rule: usize,
    /// For each new row, the one that triggered it, ascending.
    pub triggers: Vec<u32>,
    /// The new rows.
    pub rows: Batch,
}

/// A rule that failed on a row, or two that write one cell.
#[derive(Debug)]
pub struct RuleFault {
    /// `rule`, or `rule+rule`.
    pub rules: String,
    /// What failed.
    pub fault: Fault,
}

/// What a rule does to a batch.
struct Effect {
    triggered: Live,
    /// The value of each column that it sets.
    set: Vec<Datum>,
    /// The value of each column that a new row doesn't copy.
    overrides: Vec<Datum>,
}

impl Reshape {
    /// Prepares the reshape of a node; `kept` are the columns of its output that are kept.
    pub fn new(
        node: &str,
        reshape: &hir::Reshape,
        output: &Schema,
        kept: &ColumnSet,
        constants: Arc<Constants>,
    ) -> Self {
        let columns = output.columns.iter().enumerate();
        Self {
            rules: reshape.rules.iter().map(|rule| Rule::new(node, rule, output, &constants)).collect(),
            kept: columns.map(|(at, column)| kept.contains(at).then(|| column.ty.kind.clone())).collect(),
            hidden_keys: reshape.hidden_keys.clone(),
            stamps: reshape.stamps,
            constants,
        }
    }

    /// Applies all rules to a batch.
    pub fn run(&self, batch: &Batch) -> Reshaped {
        let mut run = Run {
            frame: Frame::new(batch, &self.constants, 0, 0),
            live: Live::all(batch.rows),
            effects: Vec::with_capacity(self.rules.len()),
            failures: Vec::new(),
        };
        self.rules.iter().for_each(|rule| run.apply(rule, &self.rules));
        let Run { live, mut effects, mut failures, .. } = run;
        effects.iter_mut().for_each(|effect| effect.triggered = effect.triggered.and(&live.bits()));
        failures.sort_by_key(|failure| failure.fault.row);
        let rewriting = self.rules.iter().zip(&effects).filter(|(rule, _)| !rule.set.is_empty());
        let rewritten =
            rewriting.fold(Bitmap::new_unset(batch.rows), |all, (_, effect)| &all | &effect.triggered.bits());
        Reshaped {
            rows: self.rewrite(batch, &effects),
            rewritten,
            added: (0..self.rules.len()).filter_map(|rule| self.add(batch, rule, &effects[rule])).collect(),
            failures,
        }
    }

    /// The rows with what rules set in them.
    fn rewrite(&self, batch: &Batch, effects: &[Effect]) -> Batch {
        let columns = self.kept.iter().enumerate().map(|(position, kind)| {
            let kind = kind.as_ref()?;
            let own = batch.columns.get(position).and_then(Option::as_ref);
            match self.stamps.iter().position(|stamp| *stamp == position) {
                Some(stamp) => Some(self.stamp(Stamp::ALL[stamp], own, effects, batch.rows)),
                None => Some(self.set(position, own, kind, effects, batch.rows)),
            }
        });
        let columns = columns.collect();
        Batch { rows: batch.rows, columns, carried: batch.carried.clone(), origin: batch.origin.clone() }
    }

    /// A column with what rules set in it.
    fn set(&self, position: usize, own: Option<&Column>, kind: &Kind, effects: &[Effect], rows: usize) -> Column {
        let mut rest = Live::all(rows);
        let mut parts: Vec<Part> = Vec::new();
        for (rule, effect) in self.rules.iter().zip(effects) {
            let assigned = rule.set.iter().position(|assigned| assigned.column == position);
            if let Some(at) = assigned.filter(|_| !effect.triggered.is_empty()) {
                rest = rest.minus(&effect.triggered);
                parts.push((effect.triggered.clone(), effect.set[at].clone()));
            }
        }
        let own = own.map_or(Datum::NULL, |column| Datum::Column(column.clone()));
        parts.insert(0, (rest, own));
        choose(parts, kind, rows).into_column(kind, rows)
    }

    /// The column of a stamp for rows that came in; `own` is what an earlier reshape stamped.
    fn stamp(&self, stamp: Stamp, own: Option<&Column>, effects: &[Effect], rows: usize) -> Column {
        let own = own.cloned().unwrap_or_else(|| match stamp {
            Stamp::Synthetic => Column::splat(&Value::Bool(false), &Kind::Bool, rows),
            Stamp::SynthesizedBy | Stamp::MutatedBy => text_column("", rows),
        });
        let rewriting = || self.rules.iter().zip(effects).filter(|(rule, _)| !rule.set.is_empty());
        if stamp != Stamp::MutatedBy || rewriting().all(|(_, effect)| effect.triggered.is_empty()) {
            return own;
        }
        let mut texts: Vec<String> = (0..rows).map(|row| own.value(row).to_string()).collect();
        for (rule, effect) in rewriting() {
            effect.triggered.for_each(|row| {
                let text = &mut texts[row];
                text.push_str(if text.is_empty() { "" } else { "," });
                text.push_str(&rule.label);
            });
        }
        Column::strings(texts.into_iter().map(Some))
    }

    /// The rows that a rule adds, if there are some.
    fn add(&self, batch: &Batch, rule: usize, effect: &Effect) -> Option<Added> {
        let synthesis = self.rules[rule].synthesis.as_ref()?;
        let triggers = effect.triggered.indices();
        if triggers.is_empty() {
            return None;
        }
        let columns = self.kept.iter().enumerate().map(|(position, kind)| {
            let kind = kind.as_ref()?;
            if let Some(stamp) = self.stamps.iter().position(|stamp| *stamp == position) {
                return Some(self.new_stamp(Stamp::ALL[stamp], rule, triggers.len()));
            }
            let overriding = synthesis.overrides.iter().position(|assigned| assigned.column == position);
            let copied = synthesis.copies_trigger || self.hidden_keys.contains(&position);
            let own = batch.columns.get(position).and_then(Option::as_ref).filter(|_| copied);
            Some(match (overriding, own) {
                (Some(at), _) => effect.overrides[at].clone().into_column(kind, batch.rows).take(&triggers),
                (None, None | Some(Column::Null(_))) => Column::splat(&Value::Null, kind, triggers.len()),
                (None, Some(column)) => column.take(&triggers),
            })
        });
        let columns = columns.collect();
        let carried = if synthesis.copies_trigger { batch.carried.take(&triggers) } else { Carried::default() };
        let rows = Batch { rows: triggers.len(), columns, carried, origin: batch.origin.take(&triggers) };
        Some(Added { rule, triggers, rows })
    }

    /// The column of a stamp for rows that a rule added.
    fn new_stamp(&self, stamp: Stamp, rule: usize, rows: usize) -> Column {
        match stamp {
            Stamp::Synthetic => Column::splat(&Value::Bool(true), &Kind::Bool, rows),
            Stamp::SynthesizedBy => text_column(&self.rules[rule].label, rows),
            Stamp::MutatedBy => text_column("", rows),
        }
    }
}

fn text_column(text: &str, rows: usize) -> Column {
    Column::splat(&Value::String(text.into()), &Kind::String, rows)
}

impl Rule {
    fn new(node: &str, rule: &ReshapeRule, output: &Schema, constants: &Constants) -> Self {
        let assigned = |assignment: &Assignment| Assigned {
            column: assignment.column,
            name: output.columns[assignment.column].name.as_str().into(),
            value: compile(&assignment.value, constants),
            span: assignment.span,
        };
        Self {
            label: format!("{node}:{}", rule.name),
            name: rule.name.clone(),
            when: compile(&rule.when, constants),
            set: rule.set.iter().map(assigned).collect(),
            synthesis: rule.synthesize.as_ref().map(|synthesis| Synthesis {
                copies_trigger: synthesis.copies_trigger,
                overrides: synthesis.overrides.iter().map(assigned).collect(),
            }),
        }
    }

    /// The first column of this rule that an earlier one sets, too: as that one names it, and as this one does.
    fn contested<'r>(&'r self, earlier: &'r Rule) -> Option<(&'r Assigned, &'r Assigned)> {
        self.set.iter().find_map(|later| {
            let first = earlier.set.iter().find(|first| first.column == later.column)?;
            Some((first, later))
        })
    }
}

/// A batch on its way through the rules.
struct Run<'a> {
    frame: Frame<'a>,
    /// The rows that have not failed.
    live: Live,
    /// What the rules so far do.
    effects: Vec<Effect>,
    failures: Vec<RuleFault>,
}

impl Run<'_> {
    fn apply(&mut self, rule: &Rule, all: &[Rule]) {
        self.frame.faults.set_field(None);
        let triggered = self.frame.holds(&rule.when, &self.live);
        let mut triggered = self.without_failed(triggered, rule);
        for (earlier, other) in all[..self.effects.len()].iter().enumerate() {
            if let Some(contested) = rule.contested(other) {
                triggered = self.refuse(triggered, earlier, (other, rule), contested);
            }
        }
        let set = self.values(&mut triggered, rule, &rule.set);
        let overrides = rule.synthesis.as_ref().map_or([].as_slice(), |synthesis| &synthesis.overrides);
        let overrides = self.values(&mut triggered, rule, overrides);
        self.effects.push(Effect { triggered, set, overrides });
    }

    /// The values of some columns for the rows that a rule is triggered by.
    fn values(&mut self, triggered: &mut Live, rule: &Rule, assigned: &[Assigned]) -> Vec<Datum> {
        let mut values = Vec::with_capacity(assigned.len());
        for Assigned { name, value, .. } in assigned {
            self.frame.faults.set_field(Some(Arc::clone(name)));
            values.push(self.frame.eval(value, triggered));
            *triggered = self.without_failed(std::mem::replace(triggered, Live::all(0)), rule);
        }
        values
    }

    /// Notes the rows that an expression of a rule just failed on; gives the others of some rows.
    fn without_failed(&mut self, rows: Live, rule: &Rule) -> Live {
        let Some(failed) = self.frame.faults.failed() else { return rows };
        let faults = std::mem::replace(&mut self.frame.faults, Faults::new(rows.rows()));
        let faults = faults.into_sorted().into_iter().map(|fault| RuleFault { rules: rule.name.clone(), fault });
        self.failures.extend(faults);
        self.live = self.live.and_not(&failed);
        rows.and_not(&failed)
    }

    /// Lets the rows fail that an earlier rule writes the same column of. Gives the others.
    fn refuse(
        &mut self,
        rows: Live,
        earlier: usize,
        (first, second): (&Rule, &Rule),
        (set_first, set_later): (&Assigned, &Assigned),
    ) -> Live {
        let both = self.effects[earlier].triggered.and(&rows.bits());
        if both.is_empty() {
            return rows;
        }
        both.for_each(|row| {
            let fault = Fault {
                row,
                kind: FaultKind::Conflict,
                field: Some(Arc::clone(&set_later.name)),
                value: None,
                message: format!("rules `{}` and `{}` both set it", first.name, second.name),
                span: set_later.span,
                other: Some(set_first.span),
            };
            self.failures.push(RuleFault { rules: format!("{}+{}", first.name, second.name), fault });
        });
        self.live = self.live.minus(&both);
        rows.minus(&both)
    }
}
