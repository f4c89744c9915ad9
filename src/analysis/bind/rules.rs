//! What holds for the rules of any node: there are some, and each has a name of its own.

use super::Binder;
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};

/// A list of rules, for messages.
pub(super) struct RuleList<'a> {
    /// The node: "cull `gate`".
    pub node: String,
    /// The names of the rules, in order.
    pub names: Vec<&'a Spanned<String>>,
    /// Where `rules` stands.
    pub span: Span,
    /// What a node of this kind fails to do without rules: "removes nothing".
    pub idle: &'static str,
    /// A rule as it could be written.
    pub example: &'static str,
}

impl Binder<'_> {
    /// Reports (E200) that there are no rules, and each rule that has the name of an earlier one.
    pub(super) fn rules(&mut self, rules: &RuleList) {
        let node = &rules.node;
        if rules.names.is_empty() {
            let diagnostic = Diagnostic::error(Code::E200, format!("{node} has no rules"))
                .label(rules.span, rules.idle)
                .help(format!("add a rule: `{}`", rules.example));
            self.diagnostics.push(diagnostic);
        }
        for (index, name) in rules.names.iter().enumerate() {
            let Some(first) = rules.names[..index].iter().find(|first| first.value == name.value) else { continue };
            let diagnostic = Diagnostic::error(Code::E200, format!("two rules of {node} are called `{}`", name.value))
                .label(name.span, "the second one")
                .label(first.span, "the first one")
                .help("give one of them another name");
            self.diagnostics.push(diagnostic);
        }
    }
}
