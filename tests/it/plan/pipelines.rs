//! The pipelines that the tests plan.

use clinker::analysis::functions::Function;
use clinker::analysis::hir::{BinaryOp, NodeId, Pipeline, Rate, SourceErrorHandling};
use clinker::analysis::types::{Kind, Type};
use clinker::diagnostics::SourceMap;

use super::draft::{Draft, Draw, arithmetic, call, column, compare, int};

/// A source, two transforms and a sink that writes everything.
pub fn chain() -> (Pipeline, SourceMap) {
    let mut draft = Draft::new("chain");
    let (text, whole) = (Type::of(Kind::String), Type::of(Kind::Int));
    let trips = draft.source("trips", "trips.csv", &[("bus", text), ("km", whole.clone()), ("day", whole)]);
    let km = || column(1, Kind::Int);
    let further = Draw::Emit("km", "km + 1", arithmetic(BinaryOp::Add, km(), int(1)));
    let a = draft.transform("a", (trips, 0), &[Draw::Emit("bus", "bus", column(0, Kind::String)), further]);
    let b = draft.transform("b", (a, 0), &[Draw::Filter("km > 2", compare(BinaryOp::Greater, km(), int(2)))]);
    draft.sink("out", (b, 0), "out.csv", &["bus", "km", "day"], true);
    draft.finish()
}

/// Two sources; duplicates, a route with a port that two read and one that nothing reads, a computed column that only
/// dead letters show, dead-letter files of the run and of one source; the reader of a branch stands in front of it.
pub fn orders() -> (Pipeline, SourceMap) {
    let mut draft = Draft::new("orders");
    let columns = [
        ("id", Type::of(Kind::String)),
        ("customer", Type::nullable(Kind::String)),
        ("amount", Type::of(Kind::Int)),
        ("placed", Type::of(Kind::Date)),
        ("note", Type::nullable(Kind::String)),
    ];
    let orders = draft.source("orders", "orders.csv", &columns);
    let amount = || column(2, Kind::Int);
    let steps = [
        Draw::Check("not customer.is_null()", call(Function::IsNull, column(1, Kind::String), Type::of(Kind::Bool))),
        Draw::Distinct("distinct by id", vec![column(0, Kind::String)]),
        Draw::Emit("gross", "amount * 119 / 100", {
            let taxed = arithmetic(BinaryOp::Multiply, amount(), int(119));
            arithmetic(BinaryOp::Divide, taxed, int(100))
        }),
        Draw::Emit("label", "customer.upper()", call(Function::Upper, column(1, Kind::String), columns[1].1.clone())),
    ];
    let clean = draft.transform("clean", (orders, 0), &steps);
    let conditions = [
        ("large", "gross > 1000", compare(BinaryOp::Greater, column(5, Kind::Int), int(1000))),
        ("late", "placed.year() > 2020", {
            let year = call(Function::Year, column(3, Kind::Date), Type::of(Kind::Int));
            compare(BinaryOp::Greater, year, int(2020))
        }),
    ];
    let size = draft.route("size", clean, &conditions, "rest");
    draft.sink("large", (size, 0), "large.csv", &["id", "gross"], false);
    let share = Draw::Emit("share", "1000 / amount", arithmetic(BinaryOp::Divide, int(1000), amount()));
    let shares = draft.transform("shares", (size, 0), &[share]);
    draft.sink("shares_out", (shares, 0), "shares.csv", &["id", "share"], false);
    draft.sink("late", (size, 1), "late.csv", &["id", "placed"], true);
    let refunds =
        draft.source("refunds", "refunds.csv", &[("id", columns[0].1.clone()), ("back", Type::of(Kind::Int))]);
    let errors = dead_letters(&mut draft, refunds);
    draft.pipeline.error_handling = errors;
    draft.finish()
}

fn dead_letters(draft: &mut Draft, refunds: NodeId) -> clinker::analysis::hir::ErrorHandling {
    let mut errors = draft.pipeline.error_handling.clone();
    errors.continue_on_error = true;
    errors.dlq_path = Some(draft.path("rejects.csv"));
    errors.rate = Some(Rate { max_rate: 0.1, min_records: 100 });
    errors.type_error_threshold = Some(0.025);
    errors.per_source = vec![SourceErrorHandling {
        source: refunds,
        dlq_path: Some(draft.path("refunds_rejects.csv")),
        rate: Some(Rate { max_rate: 0.2, min_records: 500 }),
    }];
    errors
}
