//! The HIR as compact text, for people who look at what analysis made of a pipeline.
//!
//! Names are shown where the HIR holds positions. A conversion shows as `(x as float)`, a decimal of known scale as
//! `decimal(2)`, and an `==` that is null where an operand is null as `==?`.

use std::fmt::Write;

use super::check::list;
use super::functions::Function;
use super::hir::{
    Aggregate, AggregateFunction, AggregateStrategy, Aggregation, Assignment, BinaryOp, Column, ConstantValue, Cull,
    Expr, ExprKind, Literal, Matcher, Merge, MergeMode, Node, NodeKind, OutputColumn, Pipeline, Reshape, Route, Schema,
    Sink, SinkColumn, SinkColumnSource, SortKey, Source, Statement, Transform, Variable,
};
use super::types::{Kind, Type};

/// A whole pipeline, a block a node.
pub fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = format!("pipeline {}\n", pipeline.name);
    for var in &pipeline.vars {
        line(&mut text, format_args!("  var {}: {} = {}", var.name, ty(&var.ty), constant(&var.value)));
    }
    for node in &pipeline.nodes {
        text.push_str(&self::node(pipeline, node));
    }
    text
}

/// One node.
pub fn node(pipeline: &Pipeline, node: &Node) -> String {
    let inputs: Vec<String> = node.inputs.iter().map(|input| port_name(pipeline, input)).collect();
    let from = if inputs.is_empty() { String::new() } else { format!(" <- {}", inputs.join(", ")) };
    let mut text = format!("\n{} {}{from}\n", kind_name(&node.kind), node.name);
    let empty = Schema::default();
    let input = node.inputs.first().map(|port| &*pipeline.node(port.node).ports[port.port].schema).unwrap_or(&empty);
    match &node.kind {
        NodeKind::Aggregate(aggregation) => aggregation_lines(&mut text, aggregation, pipeline, input),
        NodeKind::Source(source) => source_lines(&mut text, source),
        NodeKind::Transform(transform) => {
            transform_lines(&mut text, transform, &Names { pipeline, input, transform: Some(transform) })
        }
        NodeKind::Route(route) => route_lines(&mut text, node, route, &Names { pipeline, input, transform: None }),
        NodeKind::Merge(merge) => merge_lines(&mut text, pipeline, node, merge),
        NodeKind::Cull(cull) => cull_lines(&mut text, cull, pipeline, input),
        NodeKind::Reshape(reshape) => reshape_lines(&mut text, reshape, &Names { pipeline, input, transform: None }),
        NodeKind::Sink(sink) => sink_lines(&mut text, sink, input),
    }
    for port in &node.ports {
        let name = port.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        line(&mut text, format_args!("  offers{name}: {}", schema(&port.schema)));
    }
    text
}

/// The columns of an edge: `id int, name nullable(string), and undeclared fields`.
pub fn schema(schema: &Schema) -> String {
    let column = |column: &Column| format!("{} {}", column.name, ty(&column.ty));
    let mut columns: Vec<String> = schema.columns.iter().map(column).collect();
    if schema.carries {
        columns.push("and undeclared fields".to_owned());
    }
    if columns.is_empty() { "nothing".to_owned() } else { columns.join(", ") }
}

/// A type with the scale of a decimal.
pub fn ty(ty: &Type) -> String {
    match (&ty.kind, ty.nullable) {
        (Kind::Decimal { scale: Some(scale) }, true) => format!("nullable(decimal({scale}))"),
        (Kind::Decimal { scale: Some(scale) }, false) => format!("decimal({scale})"),
        _ => ty.to_string(),
    }
}

/// An expression. `names` tells what its positions refer to.
pub fn expr(expr: &Expr, names: &Names) -> String {
    let inner = |part: &Expr| self::expr(part, names);
    match &expr.kind {
        ExprKind::Literal(value) => literal(value),
        ExprKind::Column(index) => names.input.columns[*index].name.clone(),
        ExprKind::Let(slot) => format!("let.{}", names.slot(*slot, true)),
        ExprKind::Emit(slot) => format!("emit.{}", names.slot(*slot, false)),
        ExprKind::Variable(variable) => names.variable(*variable),
        ExprKind::Convert(part) => format!("({} as {})", inner(part), kind(&expr.ty.kind)),
        ExprKind::Negate(part) => format!("-{}", inner(part)),
        ExprKind::Not(part) => format!("(not {})", inner(part)),
        ExprKind::Compare { null_is_unknown: true, op: op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right } => {
            format!("({} {}? {})", inner(left), op.symbol(), inner(right))
        }
        ExprKind::Arithmetic { op, left, right } | ExprKind::Compare { op, left, right, .. } => {
            format!("({} {} {})", inner(left), op.symbol(), inner(right))
        }
        ExprKind::Logic { op, .. } => {
            let mut parts = Vec::new();
            add_parts(*op, expr, &mut parts);
            let parts: Vec<String> = parts.into_iter().map(inner).collect();
            format!("({})", parts.join(&format!(" {} ", op.symbol())))
        }
        ExprKind::Coalesce(left, right) => {
            format!("({} {} {})", inner(left), BinaryOp::Coalesce.symbol(), inner(right))
        }
        ExprKind::If { condition, consequence, alternative } => {
            let alternative = alternative.as_ref().map_or(String::new(), |part| format!(" else {}", inner(part)));
            format!("(if {} then {}{alternative})", inner(condition), inner(consequence))
        }
        ExprKind::Match { subject, arms, default } => {
            let subject = subject.as_ref().map_or(String::new(), |subject| format!("{} ", inner(subject)));
            let arms: Vec<String> =
                arms.iter().map(|arm| format!("{} => {}, ", inner(&arm.pattern), inner(&arm.body))).collect();
            format!("match {subject}{{ {}_ => {} }}", arms.concat(), inner(default))
        }
        ExprKind::Subject => "subject".to_owned(),
        ExprKind::Call { function, receiver, args } => {
            call(*function, &inner(receiver), args.iter().map(inner).collect())
        }
    }
}

/// Adds what a chain of `and` or of `or` joins. How its tree is balanced has no meaning.
fn add_parts<'e>(op: BinaryOp, expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Logic { op: same, left, right } if *same == op => {
            add_parts(op, left, parts);
            add_parts(op, right, parts);
        }
        _ => parts.push(expr),
    }
}

/// What the positions in expressions refer to.
pub struct Names<'a> {
    pipeline: &'a Pipeline,
    input: &'a Schema,
    transform: Option<&'a Transform>,
}

impl Names<'_> {
    fn slot(&self, slot: usize, is_let: bool) -> String {
        let slots = self.transform.map(|transform| if is_let { &transform.lets } else { &transform.emits });
        slots.map_or_else(|| slot.to_string(), |slots| slots[slot].name.clone())
    }

    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::PipelineName => "$pipeline.name".to_owned(),
            Variable::ExecutionId => "$pipeline.execution_id".to_owned(),
            Variable::BatchId => "$pipeline.batch_id".to_owned(),
            Variable::StartTime => "$pipeline.start_time".to_owned(),
            Variable::SourceFile => "$source.file".to_owned(),
            Variable::SourceName => "$source.name".to_owned(),
            Variable::SourceRow => "$source.row".to_owned(),
            Variable::Var(position) => format!("$vars.{}", self.pipeline.vars[position].name),
        }
    }
}

fn source_lines(text: &mut String, source: &Source) {
    let files = match &source.matcher {
        Matcher::Paths(paths) => list(&paths.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>()),
        Matcher::Glob(glob, _) => format!("glob `{glob}`"),
        Matcher::Regex(regex, _) => format!("regex `{regex}`"),
    };
    line(text, format_args!("  reads {files}"));
    for column in &source.columns {
        let header = if column.header == column.name { String::new() } else { format!(" from `{}`", column.header) };
        let formats =
            if column.formats.is_empty() { String::new() } else { format!(" as {}", column.formats.join(" | ")) };
        line(text, format_args!("  column {}: {}{header}{formats}", column.name, ty(&column.ty)));
    }
    let name = |column: usize| source.columns[column].name.as_str();
    if !source.sort_order.is_empty() {
        let broken = if source.unsorted_is_error { "or stops" } else { "or is sorted" };
        line(text, format_args!("  each file is ordered by {}, {broken}", order(&source.sort_order, name)));
    }
    if !source.correlation_key.is_empty() {
        let key: Vec<&str> = source.correlation_key.iter().map(|column| name(*column)).collect();
        line(text, format_args!("  key {}", key.join(", ")));
    }
}

/// Sort keys: `day desc, id nulls first`.
fn order<'n>(keys: &[SortKey], name: impl Fn(usize) -> &'n str) -> String {
    let key = |key: &SortKey| {
        let direction = if key.descending { " desc" } else { "" };
        let nulls = if key.nulls_first { " nulls first" } else { "" };
        format!("{}{direction}{nulls}", name(key.column))
    };
    keys.iter().map(key).collect::<Vec<_>>().join(", ")
}

fn transform_lines(text: &mut String, transform: &Transform, names: &Names) {
    for validation in &transform.validations {
        let kind = if validation.warn_only { "warn unless" } else { "check" };
        line(text, format_args!("  {kind} {} ({:?})", expr(&validation.check, names), validation.message));
    }
    for statement in &transform.statements {
        line(text, format_args!("  {}", statement_text(statement, transform, names)));
    }
    let output = transform.output.iter().map(|column| match column {
        OutputColumn::Input(index) => names.input.columns[*index].name.clone(),
        OutputColumn::Emit(slot) => format!("emit.{}#{slot}", transform.emits[*slot].name),
    });
    let mut output: Vec<String> = output.collect();
    if transform.keeps_carried {
        output.push("undeclared fields".to_owned());
    }
    line(text, format_args!("  output {}", output.join(", ")));
}

fn statement_text(statement: &Statement, transform: &Transform, names: &Names) -> String {
    match statement {
        Statement::Let { slot, value } => {
            let slot = &transform.lets[*slot];
            format!("let {}: {} = {}", slot.name, ty(&slot.ty), expr(value, names))
        }
        Statement::Emit { slot, value } => {
            let slot = &transform.emits[*slot];
            format!("emit {}: {} = {}", slot.name, ty(&slot.ty), expr(value, names))
        }
        Statement::Filter(condition) => format!("filter {}", expr(condition, names)),
        Statement::Distinct { key, .. } => {
            let key: Vec<String> = key.iter().map(|part| expr(part, names)).collect();
            format!("distinct by {}", key.join(", "))
        }
        Statement::Discard(value) => format!("discard {}: {}", expr(value, names), ty(&value.ty)),
    }
}

fn route_lines(text: &mut String, node: &Node, route: &Route, names: &Names) {
    let mode = if route.inclusive { "every branch" } else { "the first branch" };
    line(text, format_args!("  sends to {mode} that holds"));
    for (port, condition) in node.ports.iter().zip(&route.conditions) {
        line(text, format_args!("  branch {}: {}", port.name.as_deref().unwrap_or_default(), expr(condition, names)));
    }
}

fn merge_lines(text: &mut String, pipeline: &Pipeline, node: &Node, merge: &Merge) {
    let mode = match merge.mode {
        MergeMode::Concat => "takes one input behind the other".to_owned(),
        MergeMode::Interleave => "takes a row of each input in turn".to_owned(),
        MergeMode::Seeded(seed) => format!("takes rows of its inputs at random from seed {seed}"),
    };
    line(text, format_args!("  {mode}"));
    for (port, columns) in node.inputs.iter().zip(&merge.columns) {
        let schema = &pipeline.node(port.node).ports[port.port].schema;
        let column = |column: &Option<usize>| column.map_or("null", |column| schema.columns[column].name.as_str());
        let columns: Vec<&str> = columns.iter().map(column).collect();
        line(text, format_args!("  of {}: {}", port_name(pipeline, port), columns.join(", ")));
    }
}

fn cull_lines(text: &mut String, cull: &Cull, pipeline: &Pipeline, input: &Schema) {
    let name = |column: usize| input.columns[column].name.as_str();
    let rows = Names { pipeline, input, transform: None };
    group_lines(text, (&cull.partition_by, &cull.hidden_keys), &cull.order_by, name);
    let aggregates: Vec<String> = cull.aggregates.iter().map(|part| aggregate(part, &rows)).collect();
    for (part, shown) in cull.aggregates.iter().zip(&aggregates) {
        line(text, format_args!("  computes {shown}: {}", ty(&part.ty)));
    }
    let group = group_schema(cull, input, aggregates);
    let groups = Names { pipeline, input: &group, transform: None };
    for rule in &cull.rules {
        line(text, format_args!("  rule {}: {}", rule.name, expr(&rule.predicate, &groups)));
    }
}

/// What a group is and how its rows are ordered.
fn group_lines<'n>(
    text: &mut String,
    (partition_by, hidden_keys): (&[usize], &[usize]),
    order_by: &[SortKey],
    name: impl Fn(usize) -> &'n str,
) {
    let keys: Vec<&str> = partition_by.iter().chain(hidden_keys).map(|column| name(*column)).collect();
    group_line(text, &keys);
    if !order_by.is_empty() {
        line(text, format_args!("  ordered by {}", order(order_by, name)));
    }
}

fn reshape_lines(text: &mut String, reshape: &Reshape, names: &Names) {
    let name = |column: usize| names.input.columns[column].name.as_str();
    group_lines(text, (&reshape.partition_by, &reshape.hidden_keys), &reshape.order_by, name);
    let assign = |text: &mut String, assignments: &[Assignment]| {
        for Assignment { column, value, .. } in assignments {
            line(text, format_args!("    {} = {}", name(*column), expr(value, names)));
        }
    };
    for rule in &reshape.rules {
        line(text, format_args!("  rule {}: {}", rule.name, expr(&rule.when, names)));
        if !rule.set.is_empty() {
            line(text, format_args!("   sets"));
            assign(text, &rule.set);
        }
        if let Some(added) = &rule.synthesize {
            let of = match (added.copies_trigger, added.overrides.as_slice()) {
                (true, []) => "a copy",
                (true, _) => "a copy with",
                (false, _) => "a row of",
            };
            line(text, format_args!("   adds {of}"));
            assign(text, &added.overrides);
        }
    }
}

fn group_line(text: &mut String, keys: &[&str]) {
    let groups = if keys.is_empty() { "the whole input".to_owned() } else { keys.join(", ") };
    line(text, format_args!("  a group is {groups}"));
}

fn aggregation_lines(text: &mut String, aggregation: &Aggregation, pipeline: &Pipeline, input: &Schema) {
    let Aggregation { rows, results, grouped, groups, .. } = aggregation;
    let keys = grouped.columns[..aggregation.key].iter().map(|column| column.name.as_str());
    group_line(text, &keys.collect::<Vec<_>>());
    let names = Names { pipeline, input, transform: Some(rows) };
    for statement in &rows.statements {
        let shown = match statement {
            Statement::Emit { slot, value } => {
                let column = &grouped.columns[aggregation.key + slot];
                format!("argument `{}`: {} = {}", column.name, ty(&column.ty), expr(value, &names))
            }
            other => statement_text(other, rows, &names),
        };
        line(text, format_args!("  {shown}"));
    }
    let names = Names { pipeline, input: grouped, transform: None };
    for part in &aggregation.aggregates {
        line(text, format_args!("  computes {}: {}", aggregate(part, &names), ty(&part.ty)));
    }
    transform_lines(text, results, &Names { pipeline, input: groups, transform: Some(results) });
    match aggregation.strategy {
        AggregateStrategy::Auto => {}
        AggregateStrategy::Hash => line(text, format_args!("  hashes")),
        AggregateStrategy::Streaming => line(text, format_args!("  streams")),
    }
}

/// What the predicates of a cull see: a row for each group.
fn group_schema(cull: &Cull, input: &Schema, aggregates: Vec<String>) -> Schema {
    let shared = cull.partition_by.iter().map(|column| input.columns[*column].clone());
    let computed = cull.aggregates.iter().zip(aggregates).map(|(part, name)| Column {
        name,
        ty: part.ty.clone(),
        span: part.span,
        hidden: false,
    });
    Schema { columns: shared.chain(computed).collect(), carries: false }
}

fn aggregate(aggregate: &Aggregate, names: &Names) -> String {
    let args: Vec<String> = aggregate.args.iter().map(|arg| expr(arg, names)).collect();
    let args = if aggregate.function == AggregateFunction::CountRows { "*".to_owned() } else { args.join(", ") };
    format!("{}({args})", aggregate.function.name())
}

fn sink_lines(text: &mut String, sink: &Sink, input: &Schema) {
    line(text, format_args!("  writes `{}`", sink.path.0));
    for SinkColumn { name, source, scale, .. } in &sink.columns {
        let source = match source {
            SinkColumnSource::Column(index) => input.columns[*index].name.clone(),
            SinkColumnSource::Carried(field) => format!("undeclared {field}"),
        };
        let scale = scale.map_or(String::new(), |scale| format!(", scale {scale}"));
        line(text, format_args!("  column {name} = {source}{scale}"));
    }
    if sink.append_carried {
        line(text, format_args!("  and undeclared fields"));
    }
    for column in &sink.key_columns {
        line(text, format_args!("  key column {}", column.name));
    }
    let name = |column: usize| input.columns[column].name.as_str();
    if !sink.sort_order.is_empty() {
        line(text, format_args!("  ordered by {}", order(&sink.sort_order, name)));
    }
    if !sink.drop_nulls.is_empty() {
        let columns: Vec<&str> = sink.drop_nulls.iter().map(|column| name(*column)).collect();
        line(text, format_args!("  without null {}", columns.join(", ")));
    }
}

fn line(text: &mut String, args: std::fmt::Arguments) {
    writeln!(text, "{args}").expect("writing to a string can't fail");
}

fn kind_name(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Aggregate(_) => "aggregate",
        NodeKind::Source(_) => "source",
        NodeKind::Transform(_) => "transform",
        NodeKind::Route(_) => "route",
        NodeKind::Merge(_) => "merge",
        NodeKind::Cull(_) => "cull",
        NodeKind::Reshape(_) => "reshape",
        NodeKind::Sink(_) => "sink",
    }
}

fn port_name(pipeline: &Pipeline, port: &super::hir::PortRef) -> String {
    let node = pipeline.node(port.node);
    match &node.ports[port.port].name {
        Some(name) => format!("{}.{name}", node.name),
        None => node.name.clone(),
    }
}

fn kind(kind: &Kind) -> String {
    ty(&Type { kind: kind.clone(), nullable: false })
}

fn call(function: Function, receiver: &str, args: Vec<String>) -> String {
    format!("{receiver}.{}({})", function.name(), args.join(", "))
}

fn constant(value: &ConstantValue) -> String {
    match value {
        ConstantValue::Literal(value) => literal(value),
        ConstantValue::DateTime(nanoseconds) => format!("{nanoseconds} ns"),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::String(value) => format!("{value:?}"),
        Literal::Date(days) => {
            chrono::NaiveDate::from_epoch_days(*days).map_or_else(|| days.to_string(), |date| format!("#{date}#"))
        }
    }
}
