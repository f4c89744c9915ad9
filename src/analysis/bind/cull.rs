//! Culls: groups, their rules, and the port of removed groups.

use std::sync::Arc;

use super::rules::RuleList;
use super::{Binder, Bound};
use crate::analysis::check::{Checker, Grouping, Row};
use crate::analysis::hir::{Cull, CullRule, NodeKind};
use crate::syntax::pipeline::ast;

impl Binder<'_> {
    pub(super) fn cull(&mut self, node: &ast::Node, cull: &ast::Cull, input: &Arc<Row>) -> Bound {
        let name = &node.name.value;
        let partition =
            self.named_columns(&format!("`partition_by` of cull `{name}`"), &cull.partition_by.value, input);
        let find = |name: &str| input.schema.position(name);
        let order_by = self.sort_keys(&format!("`order_by` of cull `{name}`"), &cull.order_by, input, find);
        if partition.unknown.is_empty() {
            self.covers_key(&format!("cull `{name}`"), &cull.partition_by, input);
        }
        self.rules(&RuleList {
            node: format!("cull `{name}`"),
            names: cull.rules.iter().map(|rule| &rule.name).collect(),
            span: cull.rules_span,
            idle: "removes nothing",
            example: "{ name: many, drop_group_when: \"count(*) > 3\" }",
        });
        let place = format!("cull \"{name}\"");
        let checker = Checker::new(place, input, &self.vars, &self.node_names, &mut self.mixes, self.diagnostics);
        let mut checker = checker.over_groups(Grouping::Cull, partition.columns.clone(), partition.unknown);
        let mut rules = Vec::with_capacity(cull.rules.len());
        for rule in &cull.rules {
            let what = format!("`drop_group_when` of rule `{}`", rule.name.value);
            let predicate = checker.condition(&rule.predicate, &what);
            rules.push(CullRule { name: rule.name.value.clone(), predicate, span: rule.predicate.span });
        }
        let (aggregates, written) = checker.finish_groups();
        let kind = NodeKind::Cull(Cull {
            partition_by: partition.columns,
            partition_spans: partition.spans,
            hidden_keys: input.schema.keys().map(|(position, _)| position).collect(),
            order_by,
            aggregates,
            written: written.into_iter().map(|written| written.text).collect(),
            rules,
        });
        Bound { kind: Some(kind), rows: vec![Arc::clone(input); 2] }
    }
}
