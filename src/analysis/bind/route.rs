//! Routes: branches and their conditions.

use std::sync::Arc;

use super::{Binder, Bound};
use crate::analysis::check::{Checker, Row};
use crate::analysis::hir::{NodeKind, Route};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::pipeline::ast;

/// Most branches of a route, the default included.
const MAX_BRANCHES: usize = 256;

impl Binder<'_> {
    pub(super) fn route(&mut self, node: &ast::Node, route: &ast::Route, input: &Arc<Row>) -> Bound {
        self.branches(node, route);
        let place = format!("route \"{}\"", node.name.value);
        let mut checker = Checker::new(place, input, &self.vars, &self.node_names, &mut self.mixes, self.diagnostics);
        let mut conditions = Vec::with_capacity(route.conditions.len());
        for (branch, condition) in &route.conditions {
            conditions.push(checker.condition(condition, &format!("the condition of branch `{}`", branch.value)));
        }
        checker.finish();
        let rows = vec![Arc::clone(input); conditions.len() + 1];
        Bound { kind: Some(NodeKind::Route(Route { conditions, inclusive: route.inclusive })), rows }
    }

    fn branches(&mut self, node: &ast::Node, route: &ast::Route) {
        let name = &node.name.value;
        if route.conditions.is_empty() {
            let diagnostic = Diagnostic::error(Code::E200, format!("route `{name}` has no conditions"))
                .label(node.name.span, "sends every row to its default")
                .help("add a branch to `conditions`, or leave the route out");
            self.diagnostics.push(diagnostic);
        }
        if route.conditions.len() >= MAX_BRANCHES {
            let count = route.conditions.len() + 1;
            let message = format!("route `{name}` has {count} branches, more than {MAX_BRANCHES}");
            let diagnostic = Diagnostic::error(Code::E200, message).label(node.name.span, "too many branches");
            self.diagnostics.push(diagnostic.help("send the rest to a second route"));
        }
        let names: Vec<&Spanned<String>> = route.conditions.iter().map(|(branch, _)| branch).collect();
        for (index, branch) in names.iter().enumerate() {
            let first = names[..index].iter().find(|first| first.value == branch.value);
            self.branch(name, branch, first.copied());
        }
        let same = names.iter().find(|branch| branch.value == route.default.value);
        self.branch(name, &route.default, same.copied());
    }

    /// A branch's name has no dot, and no other branch has it.
    fn branch(&mut self, route: &str, branch: &Spanned<String>, first: Option<&Spanned<String>>) {
        if branch.value.contains('.') {
            let message = format!("branch `{}` of route `{route}` has a dot in its name", branch.value);
            let help = format!("call it `{}`", branch.value.replace('.', "_"));
            let diagnostic = Diagnostic::error(Code::E200, message).label(branch.span, "a dot separates node and port");
            self.diagnostics.push(diagnostic.help(help));
        }
        if let Some(first) = first {
            let message = format!("two branches of route `{route}` are called `{}`", branch.value);
            let diagnostic = Diagnostic::error(Code::E200, message)
                .label(branch.span, "the second one")
                .label(first.span, "the first one")
                .help("give one of them another name");
            self.diagnostics.push(diagnostic);
        }
    }
}
