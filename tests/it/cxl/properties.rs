//! What holds for every text and every tree.

use clinker::analysis;
use clinker::diagnostics::{Diagnostics, SourceMap, Span};
use clinker::exec::batch::Column;
use clinker::exec::value::Value;
use clinker::plan::{self, explain};
use clinker::syntax::cxl::ast::{Arg, BinaryOp, Expr, ExprKind, Name, Program, Statement, StatementKind, Target};
use clinker::syntax::cxl::{self, MAX_BYTES, MAX_NESTING, MAX_PARTS};
use clinker::syntax::pipeline;
use proptest::prelude::*;

use super::{expression, program, random, sexpr, source};
use crate::eval::harness;

fn sexprs(program: &Program) -> Vec<String> {
    program.statements.iter().map(sexpr::statement).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_printed_expression_parses_to_the_same_tree(tree in random::expression()) {
        let text = tree.to_string();
        let (parsed, diagnostics) = expression(&text);
        prop_assert!(!diagnostics.has_errors(), "{text}\n{:?}", diagnostics.sorted());
        prop_assert_eq!(sexpr::expr(&parsed), sexpr::expr(&tree), "{}", text);
        prop_assert_eq!(parsed.to_string(), text);
    }

    #[test]
    fn a_printed_program_parses_to_the_same_tree(tree in random::program()) {
        let text = tree.to_string();
        let (parsed, diagnostics) = program(&text);
        prop_assert!(!diagnostics.has_errors(), "{text}\n{:?}", diagnostics.sorted());
        prop_assert_eq!(sexprs(&parsed), sexprs(&tree), "{}", text);
        prop_assert!(parsed.complete);
    }

    #[test]
    fn any_text_ends_in_a_tree_or_an_error(text in prop_oneof![random::soup(), any::<String>(), "[ -~\n]{0,60}"]) {
        let (map, source) = source(&text);
        let mut diagnostics = Diagnostics::new();
        let program = cxl::parse_program(&source, &mut diagnostics);
        prop_assert!(program.complete || diagnostics.has_errors(), "{text:?} is dropped without a word");
        check_program(&map, &program);
        for label in diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels) {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            prop_assert!(text.get(start..end).is_some(), "{label:?} is no place in {text:?}");
        }
        let mut diagnostics = Diagnostics::new();
        let expr = cxl::parse_expression(&source, &mut diagnostics);
        prop_assert_eq!(matches!(expr.kind, ExprKind::Error), diagnostics.has_errors());
        // What parses prints and parses again.
        if !diagnostics.has_errors() {
            prop_assert_eq!(sexpr::expr(&expression(&expr.to_string()).0), sexpr::expr(&expr));
        }
    }

    #[test]
    fn spans_nest_and_cover_their_text(tree in random::program()) {
        let (map, source) = source(&tree.to_string());
        check_program(&map, &cxl::parse_program(&source, &mut Diagnostics::new()));
    }
}

pub fn check_program(map: &SourceMap, program: &Program) {
    program.statements.iter().for_each(|statement| check_statement(map, program.span, statement));
}

fn inside(outer: Span, inner: Span) {
    assert!(outer.start <= inner.start && inner.end <= outer.end, "{inner:?} is not inside {outer:?}");
}

fn check_name(map: &SourceMap, outer: Span, name: &Name) {
    inside(outer, name.span);
    assert_eq!(map.slice(name.span).trim_start_matches('$'), name.text);
}

fn check_statement(map: &SourceMap, outer: Span, statement: &Statement) {
    let span = statement.span;
    inside(outer, span);
    let name = |name: &Name| check_name(map, span, name);
    let expr = |expr: &Expr| check_expr(map, span, expr);
    match &statement.kind {
        StatementKind::Let { name: it, value } | StatementKind::Emit { target: Target::Column(it), value } => {
            name(it);
            expr(value);
        }
        StatementKind::Emit { target: Target::Scoped { scope, name: it }, value } => {
            name(scope);
            name(it);
            expr(value);
        }
        StatementKind::Filter { predicate: value } | StatementKind::Expr(value) => expr(value),
        StatementKind::Function { name: it } => name(it),
        StatementKind::Distinct { by } => by.iter().for_each(name),
        StatementKind::Trace { level, guard, message } => {
            level.iter().for_each(name);
            guard.iter().for_each(expr);
            expr(message);
        }
        StatementKind::Use { path, alias } => path.iter().chain(alias).for_each(name),
        StatementKind::EmitEach { binding, source, body, .. } => {
            name(binding);
            expr(source);
            body.iter().for_each(|inner| check_statement(map, span, inner));
        }
    }
}

fn check_expr(map: &SourceMap, outer: Span, value: &Expr) {
    let span = value.span;
    inside(outer, span);
    let text = map.slice(span);
    let expr = |expr: &Expr| check_expr(map, span, expr);
    let name = |name: &Name| check_name(map, span, name);
    let arg = |arg: &Arg| match arg {
        Arg::Expr(value) => expr(value),
        Arg::Closure { span: closure, body } => {
            inside(span, *closure);
            check_expr(map, *closure, body);
        }
        Arg::Star(star) => assert_eq!(map.slice(*star), "*"),
    };
    match &value.kind {
        ExprKind::Literal(_) | ExprKind::Error => assert!(!text.is_empty()),
        ExprKind::Now => assert!(text.starts_with("now")),
        ExprKind::It => assert_eq!(text, "it"),
        ExprKind::Wildcard => assert_eq!(text, "_"),
        ExprKind::Name(name) => assert_eq!(text, name),
        ExprKind::Path(path) => path.iter().for_each(name),
        ExprKind::System { path, args } => {
            path.iter().for_each(name);
            args.iter().flatten().for_each(arg);
        }
        ExprKind::Unary { op_span, operand, .. } => {
            assert!(matches!(map.slice(*op_span), "-" | "not"));
            expr(operand);
        }
        ExprKind::Binary { op, op_span, left, right } => {
            assert_eq!(map.slice(*op_span), op.symbol());
            assert!(left.span.end <= op_span.start && op_span.end <= right.span.start);
            expr(left);
            expr(right);
        }
        ExprKind::Chain { op, parts } => {
            assert!(parts.len() > 1 && matches!(op, BinaryOp::And | BinaryOp::Or));
            assert!(!matches!(&parts[0].kind, ExprKind::Chain { op: first, .. } if first == op));
            let between = parts.windows(2).map(|pair| Span::new(span.file, pair[0].span.end, pair[1].span.start));
            assert!(between.into_iter().all(|between| map.slice(between).contains(op.symbol())));
            parts.iter().for_each(expr);
        }
        ExprKind::If { condition, consequence, alternative } => {
            expr(condition);
            expr(consequence);
            alternative.iter().for_each(|part| expr(part));
        }
        ExprKind::Match { subject, arms } => {
            subject.iter().for_each(|part| expr(part));
            arms.iter().flat_map(|arm| [&arm.pattern, &arm.body]).for_each(expr);
        }
        ExprKind::Method { receiver, method, args } => {
            expr(receiver);
            name(method);
            args.iter().flatten().for_each(arg);
        }
        ExprKind::Call { function, args } => {
            name(function);
            args.iter().for_each(arg);
        }
        ExprKind::Index { base, index } => {
            expr(base);
            expr(index);
        }
        ExprKind::Array(items) => items.iter().for_each(expr),
        ExprKind::Comprehension { body, binding, source, predicate } => {
            expr(body);
            name(binding);
            expr(source);
            predicate.iter().for_each(|part| expr(part));
        }
        ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).for_each(expr),
    }
}

/// A name, and a text that is deep or long in one way; the number is how much so.
type Deep = (&'static str, fn(usize) -> String);

const DEEP: &[Deep] = &[
    ("parentheses", |n| format!("{}1{}", "(".repeat(n), ")".repeat(n))),
    ("arrays", |n| format!("{}1{}", "[".repeat(n), "]".repeat(n))),
    ("maps", |n| format!("{}1{}", "{a:".repeat(n), "}".repeat(n))),
    ("minus", |n| format!("{}1", "-".repeat(n))),
    ("not", |n| format!("{}a", "not ".repeat(n))),
    ("calls", |n| format!("{}a{}", "f(".repeat(n), ")".repeat(n))),
    ("indexes", |n| format!("{}a{}", "a[".repeat(n), "]".repeat(n))),
    ("closures", |n| format!("{}a{}", "a.f(it => ".repeat(n), ")".repeat(n))),
    ("conditions", |n| format!("{}a{}", "if ".repeat(n), " then b".repeat(n))),
    ("consequences", |n| format!("{}a", "if b then ".repeat(n))),
    ("matches", |n| format!("{}a{}", "match { a => ".repeat(n), "}".repeat(n))),
    ("subjects", |n| format!("{}a{}", "match ".repeat(n), " {_ => 1}".repeat(n))),
    ("sums", |n| format!("{}a", "a+".repeat(n))),
    ("coalesce", |n| format!("{}a", "a??".repeat(n))),
    ("alternatives", |n| format!("{}a", "if b then c else ".repeat(n))),
    ("cases", |n| format!("{}a", "if a == b then c else ".repeat(n))),
    ("methods", |n| format!("f(){}", ".g()".repeat(n))),
    ("members", |n| format!("a{}", ".g".repeat(n))),
];

/// Does it on a thread with this many bytes of stack.
fn on_a_stack_of(bytes: usize, work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(bytes).spawn(work).expect("a thread starts");
    thread.join().expect("the stack is large enough");
}

#[test]
fn depth_is_bounded() {
    // What shows trees here is not made for high ones.
    on_a_stack_of(16 << 20, depths);
}

fn depths() {
    let mut table = String::new();
    for (name, text) in DEEP {
        let accepted = |n: usize| !expression(&text(n)).1.has_errors();
        let counts: Vec<usize> = (0..2000).collect();
        let most = counts.partition_point(|n| accepted(*n)) - 1;
        // The deepest tree that is accepted survives what later stages do to it.
        let tree = expression(&text(most)).0;
        assert_eq!(sexpr::expr(&tree.clone()), sexpr::expr(&expression(&tree.to_string()).0), "{name}");
        let first = |n: usize| {
            let said = expression(&text(n)).1;
            let said = said.iter().next().expect("too deep a text is refused");
            format!("{}: {}", said.message, said.help.as_deref().unwrap_or_default())
        };
        let longest = (MAX_BYTES - 100) / (text(1000).len() / 1000).max(1);
        assert!(longest > most + 1, "{name} need a shorter text");
        assert_eq!(first(longest), first(most + 1), "{name}");
        table += &format!("{name:14} {most:4}  {}\n", first(most + 1));
    }
    crate::support::assert_snapshot("cxl/depth", &table);
    for unpaired in ["([{", ")]}", "match ", "if ", "emit each x in y {", "[x for x in "] {
        assert!(expression(&unpaired.repeat(5000)).1.has_errors());
        assert!(program(&unpaired.repeat(3000)).1.has_errors());
    }
}

/// A pipeline whose transform emits this.
fn emitting(text: &str) -> String {
    format!(
        "pipeline: {{ name: deep }}
nodes:
  - type: source
    name: s
    config: {{ name: s, type: csv, path: a.csv, schema: [{{ name: a, type: int }}] }}
  - type: transform
    name: t
    input: s
    config:
      cxl: |
        emit x = {text}
  - type: sink
    name: o
    input: t
    config: {{ name: o, type: csv, path: b.csv }}
"
    )
}

/// The programs that need most of a stack: as high as they can be.
fn deepest() -> Vec<String> {
    let parts = MAX_PARTS as usize - 1;
    vec![
        format!("{}a", "a + ".repeat(parts)),
        format!("{}'a'", "'a' + ".repeat(parts)),
        format!("{}a", "a ?? ".repeat(parts)),
        format!("a{}", ".abs()".repeat(parts)),
        format!("{}3", "if a == 1 then 2 else ".repeat(parts)),
        format!("{}{}a{}", "a + ".repeat(parts), "(".repeat(250), ")".repeat(250)),
        format!("{}{}a", "a + ".repeat(parts), "-".repeat(250)),
        format!("{}a == 1", "not ".repeat(MAX_NESTING as usize - 2)),
        format!("{}1{}", "match { a == 1 => ".repeat(100), ", _ => 2 }".repeat(100)),
        format!("{}a{}", "a.clamp(0, ".repeat(250), ")".repeat(250)),
        format!("{}{}1{}", "match { a == 1 => ".repeat(100), "a + ".repeat(parts), ", _ => 2 }".repeat(100)),
        format!("{}{}a{}", "a.clamp(0, ".repeat(250), "a + ".repeat(parts), ")".repeat(250)),
        format!("{}true{}", "(a == 1 or ".repeat(120), ")".repeat(120)),
    ]
}

#[test]
fn every_stage_stands_the_deepest_trees() {
    on_a_stack_of(2 << 20, || {
        for text in deepest() {
            let text = emitting(&text);
            let mut diagnostics = Diagnostics::new();
            let mut sources = SourceMap::new();
            let file = sources.add("deep.yaml", text.clone());
            let ast = pipeline::read(file, &text, &mut diagnostics).expect("it is a pipeline");
            let hir = analysis::analyse(&ast, &analysis::Options::default(), &mut diagnostics);
            let plan = hir.and_then(|hir| plan::plan(&hir, &mut diagnostics));
            let plan = plan.unwrap_or_else(|| panic!("{:?}", diagnostics.sorted()));
            explain::render(&plan, &sources, explain::Format::Text, &explain::Facts::default());
        }
    });
    on_a_stack_of(2 << 20, || {
        for text in deepest() {
            assert_eq!(expression(&expression(&text).0.to_string()).1.error_count(), 0, "{text}");
            let checked = harness::transform(&[("a", "int")], &format!("emit x = {text}"), "").expect(&text);
            let done = checked.run(&harness::batch(2, vec![Column::ints(vec![1, 2], None)]));
            assert_eq!(done.faults, []);
        }
    });
}

/// They associate, so their trees are low whatever their length. What they mean is what they mean one by one.
#[test]
fn chains_of_and_and_or_are_as_long_as_a_text() {
    on_a_stack_of(2 << 20, || {
        let listed = |op: &str| (1..=4700).map(|code| format!("a {op} {code}")).collect::<Vec<_>>();
        let (any, all) = (listed("==").join(" or "), listed("!=").join(" and "));
        assert!(any.len() > MAX_BYTES * 9 / 10);
        for (text, expected) in [(&any, [true, true, false]), (&all, [false, false, true])] {
            let checked = harness::transform(&[("a", "int")], &format!("emit x = {text}"), "").expect("it checks");
            let done = checked.run(&harness::batch(3, vec![Column::ints(vec![1, 4700, 4701], None)]));
            let found = (0..3).map(|row| done.batch.columns[1].as_ref().expect("it is stored").value(row));
            assert_eq!(found.collect::<Vec<_>>(), expected.map(Value::Bool));
        }
    });
}

#[test]
fn blocks_and_bytes_are_bounded() {
    let blocks = |n: usize| format!("{}emit a = 1{}\nemit b = 2", "emit each x in y {\n".repeat(n), "}".repeat(n));
    assert!(!program(&blocks(32)).1.has_errors());
    let (tree, diagnostics) = program(&blocks(33));
    assert_eq!(diagnostics.error_count(), 1);
    assert!(!tree.complete && tree.statements.len() == 2);
    assert_eq!(program(&blocks(3000)).1.error_count(), 1);

    let text = "#".repeat(MAX_BYTES);
    assert!(!program(&text).1.has_errors());
    let (tree, diagnostics) = program(&format!("{text}#"));
    assert!(!tree.complete && diagnostics.error_count() == 1);
}
