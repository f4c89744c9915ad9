//! A pipeline around one CXL program, without a YAML file.

use clinker::analysis::{Options, analyse, hir};
use clinker::diagnostics::{Diagnostics, SourceMap, Span, Spanned};
use clinker::syntax::cxl::{self, parse_program};
use clinker::syntax::pipeline::ast;
use clinker::syntax::text_map::TextMap;

/// The columns that programs of these tests read, with their types; `?` behind a type means nullable.
pub const COLUMNS: &[(&str, &str)] = &[
    ("id", "int"),
    ("qty", "int?"),
    ("ratio", "float"),
    ("temp", "float?"),
    ("price", "decimal 2"),
    ("rate", "decimal 4"),
    ("amount", "decimal?"),
    ("name", "string"),
    ("note", "string?"),
    ("ok", "bool"),
    ("seen", "bool?"),
    ("day", "date"),
    ("due", "date?"),
    ("at", "date_time"),
];

/// What comes of a program over [`COLUMNS`]; the file holds the program and nothing else.
pub fn analyse_program(program: &str) -> (Option<hir::Pipeline>, Diagnostics, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("program.cxl", program);
    let end = program.len() as u32;
    let span = Span::new(file, end, end);
    let mut diagnostics = Diagnostics::new();
    let source =
        cxl::Source { text: program.to_owned(), map: TextMap::identity(file, 0, end), span: Span::new(file, 0, end) };
    let program = parse_program(&source, &mut diagnostics);
    let pipeline = around(program, span);
    let analysed = analyse(&pipeline, &Options::default(), &mut diagnostics);
    (analysed, diagnostics, sources)
}

fn around(program: cxl::ast::Program, span: Span) -> ast::Pipeline {
    let transform = ast::Transform {
        input: text("rows", span),
        program,
        validations: Vec::new(),
        include_unmapped: true,
        batch_size: None,
    };
    let nodes = vec![
        node("rows", ast::NodeKind::Source(source(span)), span),
        node("program", ast::NodeKind::Transform(transform), span),
        node("all", ast::NodeKind::Sink(sink(span)), span),
    ];
    ast::Pipeline {
        file: span.file,
        name: text("test", span),
        settings: ast::Settings { vars: vars(span), ..ast::Settings::default() },
        nodes,
        nodes_complete: true,
        error_handling: ast::ErrorHandling::default(),
    }
}

fn vars(span: Span) -> Vec<ast::Var> {
    let default = |value: &str| Some(Spanned::new(ast::ScalarText { text: value.to_owned(), quoted: false }, span));
    vec![
        ast::Var { name: text("limit", span), ty: ty("float", span), default: default("0.5") },
        ast::Var { name: text("region", span), ty: ty("string", span), default: None },
    ]
}

fn source(span: Span) -> ast::Source {
    ast::Source {
        config_name: None,
        format: Spanned::new(ast::Format::Csv, span),
        matcher: Some(ast::Matcher::Path(text("rows.csv", span))),
        schema: Some(COLUMNS.iter().map(|(name, ty)| column(name, ty, span)).collect()),
        csv: ast::CsvReadOptions::default(),
        on_unmapped: ast::OnUnmapped::AutoWiden,
    }
}

fn column(name: &str, written: &str, span: Span) -> ast::SchemaColumn {
    let (written, scale) = match written.split_once(' ') {
        Some((kind, scale)) => (kind, Some(Spanned::new(scale.parse().expect("a scale"), span))),
        None => (written, None),
    };
    ast::SchemaColumn {
        name: text(name, span),
        ty: ty(written, span),
        source_name: None,
        format: None,
        precision: None,
        scale,
    }
}

fn ty(written: &str, span: Span) -> ast::TypeText {
    let name = written.trim_end_matches('?');
    ast::TypeText { name: text(name, span), nullable: name != written, span }
}

fn sink(span: Span) -> ast::Sink {
    ast::Sink {
        input: text("program", span),
        config_name: None,
        format: Spanned::new(ast::Format::Csv, span),
        path: text("all.csv", span),
        include_unmapped: true,
        mapping: None,
        exclude: Vec::new(),
        include_header: true,
        if_exists: Spanned::new(ast::IfExists::Overwrite, span),
        delimiter: b',',
        scales: Vec::new(),
    }
}

fn node(name: &str, kind: ast::NodeKind, span: Span) -> ast::Node {
    ast::Node { name: text(name, span), type_span: span, description: None, span, kind }
}

fn text(value: &str, span: Span) -> Spanned<String> {
    Spanned::new(value.to_owned(), span)
}
