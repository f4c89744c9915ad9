//! Reshapes: groups, what their rules write into which columns, and the stamps of their rows.

use std::sync::Arc;

use super::order::Named;
use super::rules::RuleList;
use super::{Binder, Bound};
use crate::analysis::check::unify::convert;
use crate::analysis::check::{Checker, Row, alike, list};
use crate::analysis::hir::{self, Column, Expr, ExprKind, NodeKind, Reshape, ReshapeRule, Stamp, Synthesis};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::pipeline::ast::{self, Assignment, CopyFrom};

/// A rule with its expressions checked.
struct CheckedRule<'a> {
    rule: &'a ast::ReshapeRule,
    when: Expr,
    set: Vec<CheckedAssignment<'a>>,
    /// Empty where nothing is synthesized.
    overrides: Vec<CheckedAssignment<'a>>,
}

/// A column, if it is known, and its checked value, of whatever kind it has.
struct CheckedAssignment<'a> {
    assignment: &'a Assignment,
    column: Option<usize>,
    value: Expr,
}

impl CheckedAssignment<'_> {
    /// Whether the value is what the column holds anyway, or has failed.
    fn keeps(&self) -> bool {
        match self.value.kind {
            ExprKind::Column(column) => self.column == Some(column),
            _ => self.value.ty.is_error(),
        }
    }
}

impl Binder<'_> {
    pub(super) fn reshape(&mut self, node: &ast::Node, reshape: &ast::Reshape, input: &Arc<Row>) -> Bound {
        let name = format!("reshape `{}`", node.name.value);
        let partition =
            self.named_columns_or_lists(&format!("`partition_by` of {name}"), &reshape.partition_by.value, input);
        let find = |name: &str| input.schema.position(name);
        let order_by = self.sort_keys(&format!("`order_by` of {name}"), &reshape.order_by, input, find);
        if partition.unknown.is_empty() {
            self.covers_key(&name, &reshape.partition_by, input);
        }
        self.rules(&RuleList {
            node: name.clone(),
            names: reshape.rules.iter().map(|rule| &rule.name).collect(),
            span: reshape.rules_span,
            idle: "changes nothing",
            example: "{ name: cap, when: \"months > 12\", mutate: { set: { months: \"12\" } } }",
        });
        reshape.rules.iter().for_each(|rule| self.joins_names(&rule.name));
        // What a rule writes may be null.
        let mut row = Row { texts: Arc::default(), ..Row::clone(input) };
        let rules = self.checked_rules(node, reshape, input, &mut row.schema.columns);
        for rule in &rules {
            self.targets(rule, &partition, input);
        }
        self.same_rows(&name, &rules);
        stamp(node, &mut row);
        let kind = NodeKind::Reshape(Reshape {
            partition_by: partition.columns,
            partition_spans: partition.spans,
            hidden_keys: input.schema.keys().map(|(position, _)| position).collect(),
            order_by,
            stamps: Stamp::ALL.map(|stamp| row.schema.stamp(stamp).expect("the output has every stamp")),
            rules: rules.into_iter().map(|rule| bound(rule, &row.schema)).collect(),
        });
        Bound { kind: Some(kind), rows: vec![Arc::new(row)] }
    }

    /// The names of rules stand side by side in stamps and stages, so none holds what stands between them there.
    fn joins_names(&mut self, name: &Spanned<String>) {
        let Some(mark) = name.value.chars().find(|c| matches!(c, ',' | '+')) else { return };
        let diagnostic = Diagnostic::error(Code::E200, format!("the rule name `{}` holds a `{mark}`", name.value))
            .label(name.span, "stands between the names of rules where several are shown")
            .help(format!("call it `{}`", name.value.replace([',', '+'], "_")));
        self.diagnostics.push(diagnostic);
    }

    /// The expressions of all rules, over the input. `columns` are the input's; they become wide enough for all that is
    /// written into them.
    fn checked_rules<'r>(
        &mut self,
        node: &ast::Node,
        reshape: &'r ast::Reshape,
        input: &Row,
        columns: &mut [Column],
    ) -> Vec<CheckedRule<'r>> {
        let place = format!("reshape \"{}\"", node.name.value);
        let checker = Checker::new(place, input, &self.vars, &self.node_names, &mut self.mixes, self.diagnostics);
        let mut checker = checker.without_documents();
        let mut assignments = |checker: &mut Checker, list: String, assignments: &'r [Assignment]| {
            let checked = assignments.iter().map(|assignment| {
                let position = input.schema.position(&assignment.column.value);
                let column = position.map(|position| &mut columns[position]);
                let value = checker.assigned(&assignment.value, column, &list);
                CheckedAssignment { assignment, column: position, value }
            });
            checked.collect()
        };
        let mut rules = Vec::with_capacity(reshape.rules.len());
        for rule in &reshape.rules {
            let name = &rule.name.value;
            let when = checker.condition(&rule.when, &format!("`when` of rule `{name}`"));
            let overrides = rule.synthesize.as_ref().map_or([].as_slice(), |synthesis| &synthesis.overrides);
            rules.push(CheckedRule {
                rule,
                when,
                set: assignments(&mut checker, format!("`set` of rule `{name}`"), &rule.set),
                overrides: assignments(&mut checker, format!("`overrides` of rule `{name}`"), overrides),
            });
        }
        checker.finish();
        rules
    }

    /// A rule does something, and writes into columns that there are and that don't make the group.
    fn targets(&mut self, checked: &CheckedRule, partition: &Named, input: &Row) {
        let rule = checked.rule;
        let name = &rule.name.value;
        if rule.set.is_empty() && rule.synthesize.is_none() {
            self.idle_rule(&rule.name);
        }
        for assignment in &checked.set {
            let list = format!("`set` of rule `{name}`");
            self.target(&list, assignment, input);
            if assignment.column.is_some_and(|column| partition.columns.contains(&column)) {
                self.sets_partition(&list, assignment);
            }
        }
        for assignment in &checked.overrides {
            let list = format!("`overrides` of rule `{name}`");
            self.target(&list, assignment, input);
            let in_partition = assignment.column.is_some_and(|column| partition.columns.contains(&column));
            if in_partition && !assignment.keeps() {
                self.overrides_partition(&list, assignment);
            }
        }
        if let Some(synthesis) =
            rule.synthesize.as_ref().filter(|synthesis| synthesis.copy_from.value == CopyFrom::Nothing)
        {
            self.every_column(name, synthesis, input);
        }
    }

    fn idle_rule(&mut self, name: &Spanned<String>) {
        let diagnostic = Diagnostic::error(Code::E200, format!("rule `{}` has no action", name.value))
            .label(name.span, "changes nothing and adds nothing")
            .help("give it `mutate: { set: … }` or `synthesize: { copy_from: trigger, overrides: … }`");
        self.diagnostics.push(diagnostic);
    }

    fn target(&mut self, list: &str, assignment: &CheckedAssignment, input: &Row) {
        if assignment.column.is_none() && input.complete {
            self.no_such_column(list, &assignment.assignment.column, input);
        }
    }

    fn sets_partition(&mut self, list: &str, assignment: &CheckedAssignment) {
        let column = &assignment.assignment.column;
        let message = format!("{list} changes `{}`, which `partition_by` groups by", column.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(column.span, "would move the row to another group")
            .help("change it in a transform below the reshape");
        self.diagnostics.push(diagnostic);
    }

    fn overrides_partition(&mut self, list: &str, assignment: &CheckedAssignment) {
        let column = &assignment.assignment.column;
        let message = format!("{list} changes `{}`, which `partition_by` groups by", column.value);
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(assignment.value.span, "would move the new row to another group")
            .help(format!("write the field itself, `{0}: {0}`, or change it in a transform below", column.value));
        self.diagnostics.push(diagnostic);
    }

    /// A row that copies nothing has a value for every column.
    fn every_column(&mut self, rule: &str, synthesis: &ast::Synthesis, input: &Row) {
        let given = |name: &str| synthesis.overrides.iter().any(|assignment| assignment.column.value == name);
        let names = input.schema.visible().iter().map(|column| column.name.as_str());
        let missing: Vec<&str> = names.filter(|name| !given(name)).collect();
        if missing.is_empty() || !input.complete {
            return;
        }
        let it = if missing.len() == 1 { "it" } else { "them" };
        let message = format!("`overrides` of rule `{rule}` has no value for {}", list(&missing));
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(synthesis.copy_from.span, "copies nothing, so every column needs a value")
            .help(format!("add {it} to `overrides` (`null` is a value, too), or write `copy_from: trigger`"));
        self.diagnostics.push(diagnostic);
    }

    /// No two rules with the same condition set the same column.
    fn same_rows(&mut self, node: &str, rules: &[CheckedRule]) {
        for (index, first) in rules.iter().enumerate() {
            let same = |other: &&CheckedRule| !first.when.ty.is_error() && alike(&first.when, &other.when);
            for earlier in &first.set {
                let Some(column) = earlier.column else { continue };
                let sets = |rule: &'_ CheckedRule| rule.set.iter().position(|other| other.column == Some(column));
                if rules[..index].iter().filter(same).any(|rule| sets(rule).is_some()) {
                    // Said of the first rule that sets it.
                    continue;
                }
                let later = rules[index + 1..].iter().filter(same);
                let later: Vec<_> = later.filter_map(|rule| Some((rule, &rule.set[sets(rule)?]))).collect();
                if !later.is_empty() {
                    self.always_conflicts(node, (first, earlier), &later);
                }
            }
        }
    }

    /// Reports rules with one condition that set one column.
    fn always_conflicts(
        &mut self,
        node: &str,
        (first, earlier): (&CheckedRule, &CheckedAssignment),
        later: &[(&CheckedRule, &CheckedAssignment)],
    ) {
        let column = &earlier.assignment.column;
        let names = later.iter().map(|(rule, _)| rule.rule.name.value.as_str());
        let names: Vec<&str> = std::iter::once(first.rule.name.value.as_str()).chain(names).collect();
        let all = if names.len() == 2 { "both" } else { "all" };
        let message = format!("rules {} of {node} {all} set `{}` in the same rows", list(&names), column.value);
        let set_by = |name: &str| format!("set by `{name}`");
        let mut diagnostic = Diagnostic::error(Code::E200, message);
        for (rule, assignment) in later {
            let label = format!("{}, too", set_by(&rule.rule.name.value));
            diagnostic = diagnostic.label(assignment.assignment.column.span, label);
        }
        diagnostic = diagnostic.label(column.span, set_by(&first.rule.name.value));
        for (rule, _) in later {
            diagnostic = diagnostic.label(rule.when.span, "the same condition");
        }
        let help = "set it in one of them, or let their conditions exclude each other";
        self.diagnostics.push(diagnostic.help(help));
    }
}

/// Adds the stamps that the row doesn't have yet.
fn stamp(node: &ast::Node, row: &mut Row) {
    for stamp in Stamp::ALL {
        if row.schema.stamp(stamp).is_none() {
            let name = stamp.column_name().to_owned();
            row.schema.columns.push(Column { name, ty: stamp.ty(), span: node.name.span, hidden: true });
        }
    }
}

/// The rule with its values in the kinds of the output's columns.
fn bound(checked: CheckedRule, output: &hir::Schema) -> ReshapeRule {
    let assignments = |checked: Vec<CheckedAssignment>| {
        let known = checked.into_iter().filter_map(|CheckedAssignment { assignment, column, value }| {
            let column = column?;
            let value = convert(value, &output.columns[column].ty.kind);
            Some(hir::Assignment { column, value, span: assignment.column.span })
        });
        known.collect::<Vec<_>>()
    };
    let rule = checked.rule;
    ReshapeRule {
        name: rule.name.value.clone(),
        when: checked.when,
        set: assignments(checked.set),
        synthesize: rule.synthesize.as_ref().map(|synthesis| Synthesis {
            copies_trigger: synthesis.copy_from.value == CopyFrom::Trigger,
            overrides: assignments(checked.overrides),
        }),
        span: rule.name.span,
    }
}
