//! Builds checked pipelines by hand, with a file that their spans point into.

use std::sync::Arc;

use clinker::analysis::functions::Function;
use clinker::analysis::hir::*;
use clinker::analysis::types::{Kind, Type};
use clinker::diagnostics::{FileId, SourceMap, Span};

/// A pipeline in the making. Every name and expression gets a line of the file.
pub struct Draft {
    pub pipeline: Pipeline,
    text: String,
}

const FILE: FileId = FileId(0);

impl Draft {
    pub fn new(name: &str) -> Self {
        let pipeline = Pipeline {
            file: FILE,
            name: name.to_string(),
            settings: Settings {
                memory_limit: 512 << 20,
                backpressure: Backpressure::Pause,
                batch_size: 2048,
                threads: None,
            },
            vars: Vec::new(),
            nodes: Vec::new(),
            error_handling: ErrorHandling {
                continue_on_error: false,
                type_error_threshold: None,
                include_reason: true,
                include_source_row: true,
                dlq_path: None,
                rate: None,
                per_source: Vec::new(),
            },
        };
        Self { pipeline, text: String::new() }
    }

    /// The pipeline, and the file it stands in.
    pub fn finish(self) -> (Pipeline, SourceMap) {
        let mut sources = SourceMap::new();
        assert_eq!(sources.add("pipeline.yaml", self.text), FILE);
        (self.pipeline, sources)
    }

    pub fn write(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        let span = Span::new(FILE, start as u32, self.text.len() as u32);
        self.text.push('\n');
        span
    }

    pub fn path(&mut self, path: &str) -> (String, Span) {
        (path.to_string(), self.write(path))
    }

    pub fn source(&mut self, name: &str, path: &str, columns: &[(&str, Type)]) -> NodeId {
        let span = self.write(name);
        let schema = self.schema(columns, true);
        let columns = schema.columns.iter().map(|column| SourceColumn {
            name: column.name.clone(),
            header: column.name.clone(),
            ty: column.ty.clone(),
            formats: Vec::new(),
            precision: None,
            span: column.span,
        });
        let source = Source {
            format: Format::Csv,
            matcher: Matcher::Paths(vec![self.path(path)]),
            columns: columns.collect(),
            csv: CsvReadOptions::default(),
            on_unmapped: OnUnmapped::AutoWiden,
        };
        self.node(name, span, None, vec![Port { name: None, span, schema }], NodeKind::Source(source))
    }

    pub fn transform(&mut self, name: &str, input: (NodeId, usize), steps: &[Draw]) -> NodeId {
        let span = self.write(name);
        let schema = self.port(input).schema.clone();
        let mut transform = Transform {
            validations: Vec::new(),
            statements: Vec::new(),
            lets: Vec::new(),
            emits: Vec::new(),
            output: (0..schema.columns.len()).map(OutputColumn::Input).collect(),
            keeps_carried: true,
            batch_size: None,
        };
        let mut output = Schema::clone(&schema);
        for step in steps {
            self.step(&mut transform, &mut output, step);
        }
        let ports = vec![Port { name: None, span, schema: Arc::new(output) }];
        self.node(name, span, Some(input), ports, NodeKind::Transform(transform))
    }

    fn step(&mut self, transform: &mut Transform, output: &mut Schema, step: &Draw) {
        match step {
            Draw::Emit(name, text, value) => {
                let value = self.place(text, value);
                let slot = transform.emits.len();
                transform.emits.push(Slot { name: name.to_string(), ty: value.ty.clone() });
                let column = Column { name: name.to_string(), ty: value.ty.clone(), span: value.span };
                match output.position(name) {
                    Some(position) => {
                        output.columns[position] = column;
                        transform.output[position] = OutputColumn::Emit(slot);
                    }
                    None => {
                        output.columns.push(column);
                        transform.output.push(OutputColumn::Emit(slot));
                    }
                }
                transform.statements.push(Statement::Emit { slot, value });
            }
            Draw::Filter(text, condition) => {
                let condition = self.place(text, condition);
                transform.statements.push(Statement::Filter(condition));
            }
            Draw::Distinct(text, key) => {
                let span = self.write(text);
                transform.statements.push(Statement::Distinct { key: key.clone(), span });
            }
            Draw::Check(text, check) => {
                let check = self.place(text, check);
                let span = check.span;
                transform.validations.push(Validation {
                    name: None,
                    message: format!("`{text}` does not hold"),
                    field: None,
                    column: None,
                    warn_only: false,
                    check,
                    span,
                });
            }
        }
    }

    pub fn route(&mut self, name: &str, input: NodeId, conditions: &[(&str, &str, Expr)], default: &str) -> NodeId {
        let span = self.write(name);
        let schema = self.port((input, 0)).schema.clone();
        let names = conditions.iter().map(|(branch, _, _)| *branch).chain([default]);
        let ports = names.map(|branch| Port {
            name: Some(branch.to_string()),
            span: self.write(branch),
            schema: schema.clone(),
        });
        let ports = ports.collect();
        let conditions = conditions.iter().map(|(_, text, condition)| self.place(text, condition)).collect();
        self.node(name, span, Some((input, 0)), ports, NodeKind::Route(Route { conditions, inclusive: false }))
    }

    /// A sink that writes these columns of its input, and the undeclared fields if `append`.
    pub fn sink(&mut self, name: &str, input: (NodeId, usize), path: &str, columns: &[&str], append: bool) -> NodeId {
        let span = self.write(name);
        let schema = self.port(input).schema.clone();
        let columns = columns.iter().map(|column| SinkColumn {
            name: column.to_string(),
            source: SinkColumnSource::Column(schema.position(column).expect("the column is there")),
            scale: None,
            span,
        });
        let sink = Sink {
            label: name.to_string(),
            format: Format::Csv,
            columns: columns.collect(),
            path: self.path(path),
            append_carried: append,
            exclude: Vec::new(),
            include_header: true,
            if_exists: IfExists::Overwrite,
            delimiter: b',',
        };
        self.node(name, span, Some(input), Vec::new(), NodeKind::Sink(sink))
    }

    fn node(
        &mut self,
        name: &str,
        span: Span,
        input: Option<(NodeId, usize)>,
        ports: Vec<Port>,
        kind: NodeKind,
    ) -> NodeId {
        let inputs = input.into_iter().map(|(node, port)| PortRef { node, port, span }).collect();
        self.pipeline.nodes.push(Node { name: name.to_string(), span, inputs, ports, kind });
        NodeId(self.pipeline.nodes.len() as u32 - 1)
    }

    fn port(&self, (node, port): (NodeId, usize)) -> &Port {
        &self.pipeline.node(node).ports[port]
    }

    fn schema(&mut self, columns: &[(&str, Type)], carries: bool) -> Arc<Schema> {
        let columns =
            columns.iter().map(|(name, ty)| Column { name: name.to_string(), ty: ty.clone(), span: self.write(name) });
        Arc::new(Schema { columns: columns.collect(), carries })
    }

    fn place(&mut self, text: &str, expr: &Expr) -> Expr {
        Expr { span: self.write(text), ..expr.clone() }
    }
}

/// A step of a transform, as text and as what it means.
pub enum Draw {
    Emit(&'static str, &'static str, Expr),
    Filter(&'static str, Expr),
    Distinct(&'static str, Vec<Expr>),
    Check(&'static str, Expr),
}

pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: Span::new(FILE, 0, 0) }
}

pub fn column(position: usize, kind: Kind) -> Expr {
    expr(ExprKind::Column(position), Type::of(kind))
}

pub fn int(value: i64) -> Expr {
    expr(ExprKind::Literal(Literal::Int(value)), Type::of(Kind::Int))
}

pub fn arithmetic(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let ty = left.ty.clone();
    expr(ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) }, ty)
}

pub fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::of(Kind::Bool))
}

pub fn call(function: Function, receiver: Expr, ty: Type) -> Expr {
    expr(ExprKind::Call { function, receiver: Box::new(receiver), args: Vec::new() }, ty)
}
