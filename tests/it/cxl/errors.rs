//! What is said about texts that do not parse. Read the snapshots as a tired user would.

use clinker::diagnostics::{Diagnostics, SourceMap};
use clinker::syntax::cxl;

use super::source;
use crate::support::assert_snapshot;

/// Each text is one case; lines of a case are joined by `⏎`.
const PROGRAMS: &str = r##"
# Heads of statements
emit x 5
emit x
emit
emit = 5
emit x =
emit x == 5
emit x: 5
emit "x" = 5
emit "two words" = 5
emit a.b = 5
emit filter = 5
emit each = 5
emit x(1) = 5
emit 5 = x
let x
let x =
let = 5
let in = 5
let x 5
x = 5
x
total = a + b
filter
filter = 5
distinct x
distinct by
distinct by a, b
distinct by if
distinct on x
distinct ON x, y
fn f(x) = x + 1
use
use a.
emit a = 1⏎use b
emit $vars.x = 1
emit $meta.x = 1
emit $ck.x = 1
emit $pipeline = 1
emit x = 1,
emit x = 1 emit y = 2
emit x = 1 let y = 2⏎emit z = = 3
emit x = 1; emit y = 2
emit each x in y
emit each x y { emit z = x }
emit each x in y { filter x⏎ emit a = x⏎ distinct⏎ emit = 5 }
trace
trace info if x
# Words
emit x = a AND b
emit x = NOT a
emit x = IF a THEN b ELSE c
filter x IS NULL
filter x is not null
filter x.trim is not null
filter a + x is null
filter y and x is null
filter x IN [1, 2]
filter x in [1, 2]
filter x not in [1, 2]
filter x LIKE "a%"
filter x between 1 and 2
emit x = CASE WHEN a THEN b ELSE c END
emit x = case a when 1 then 2 end
emit x = a mod b
emit x = if a then b elif c then d
emit x = if a then b else c end
emit x = a if b else c
emit x = by + 1
emit x = emit
emit x = count(distinct a)
emit x = count(* where a > 1)
emit x = sum(b where a > 1 and c)
emit x = exists(select 1)
emit n = count(*) over (partition by a)
emit n = ROW_NUMBER() OVER (ORDER BY a)
emit x = over
emit x = a over b
emit x = for
emit x = match a { > 1 => b, _ => c }
emit x = match a { >= -5 => b, _ => c }
emit x = match a { < max(b, 2) => b, _ => c }
emit x = match a { > 1 and < 5 => b, _ => c }
emit x = match a { > 1, _ => c }
emit x = match a { 1 => b, <= 2 => c, _ => 0 }
emit x = cast(a as int)
emit a * 2 as x
emit a.upper()
emit order id = a
emit n as a
emit sum(n) as total
emit a, b = 1
let a, b = 1
emit *
emit a⏎= 1
let a⏎= b +⏎emit c = a
distinct⏎by a
distinct by a.lower()
emit x = $order_id
emit x = match a { 1 => b, else => c }
emit x = match { a > 1 => b, else => c }
SELECT a FROM b
where a > 1
group by a
-- a comment
emit x = a⏎-- a comment
return a
from orders
HAVING count(*) > 5
limit 10
order by a
emit x = CAST(a AS INT)
emit x = cast(a + b as decimal)
emit x = cast(a as money)
emit x = EXTRACT(MONTH FROM placed)
emit x = extract(week from placed)
filter a > DATE '2024-01-31'
filter a > date "31.1.2024"
filter a > TIMESTAMP '2024-01-31 10:20:30'
filter a > now - interval 1 day
filter a > b + INTERVAL '1 day'
emit x = f"{a} {b}"
emit x = r"a.b"
emit x = a::int
emit x = a::decimal(10,2)
emit x = a::something
emit x = match a { "N" | "S" => 1, _ => 2 }
emit x = match a.upper() { "N" || "S" => 1, _ => 2 }
emit x = match a { "N", "S" => 1, _ => 2 }
emit x = match a.upper() { "N", "S" => 1, _ => 2 }
emit x = match a { "N" => b | c, _ => 2 }
emit x = match { a == 1 | b == 2 => 1, _ => 2 }
# Operators
emit x = a && b
emit x = a || b
emit x = !a
emit x = a ! b
emit x = a <> b
emit x = a::b
emit x = a & b | c
filter a = 5
emit x = if a = 5 then 1 else 2
filter a === 5
filter a => 5
filter a =< 5
filter 1 < x < 3
filter a == b == c
filter a + 1 < b * 2 < c
emit x = a ?: b
emit x = a ? b : c
emit x = a ** 2
emit x = a ^ 2
emit x += 1
emit x = a +
emit x = + 5
emit x = a + * b
emit x = a and or b
emit x = - 
emit x = a b
emit x = a 5
emit x = a "text"
emit x = (a b)
emit x = f(a b)
emit x = [1 2]
emit x = { a: 1 b: 2 }
emit x = { 1: 2 }
emit x = { in: 2 }
emit x = { a 2 }
emit x = f(a, )
emit x = f(, a)
emit x = ()
emit x = a.(b)
emit x = a.
emit x = a..b
emit x = a[]
emit x = a[1
emit x = items.map(x => x + 1)
emit x = it => it
emit x = (it => it)
emit x = f(x) => 5
emit x = $
emit x = $vars
emit x = $vars.
emit x = $vars.rate(1)
# Choices
emit x = if a
emit x = if a else b
emit x = if a { b } else { c }
emit x = if (a > 5) b else c
emit x = if(a, 1, 2)
emit x = if (a and b, 1, 2)
if a > 1 then emit b = 1
emit x = if a > 1 then let b = 1
if a > 1 then⏎  emit b = 1
emit x = if a > 1 then 'a' els 'b'
emit x = if a > 1 the 'a' else 'b'
filter a adn b
emit x = if then b
emit x = if a then
emit x = if a then else b
emit x = if a then b else
emit x = if a ?? b then 1 else 2
emit x = a else b
emit x = a then b
emit x = if a then b else c else d
emit x = match a
emit x = match a { 1 }
emit x = match a { 1: "a" }
emit x = match a { 1 => }
emit x = match a { => 1 }
emit x = match { a: 1 } { _ => 1 }
emit x = match a 1 => "a"
emit x = [a for b]
emit x = [a for in c]
# Brackets and quotes
emit x = (a + b⏎emit y = 2
emit x = f(a, [b, c)⏎emit y = = 2
emit x = a)
emit x = a]⏎emit y = b}
emit x = match a { 1 => 2⏎emit y = 3
emit x = "abc⏎emit y = "d
emit x = 'it's'
emit x = 'it''s'
emit x = "a\q" + "\x41" + "\u12"
emit x = "\ud800"
emit x = "\ud83d\ude00" + "\ude00\ud83d" + "\ud83dx"
emit x = "C:\temp\"
emit x = “quoted”
emit x = a − b
emit x = größe
emit x = a @ b
emit x = `a`
# Numbers and dates
emit x = 9223372036854775808
emit x = a - 9223372036854775808
emit x = -9223372036854775808.abs()
emit x = 99999999999999999999999999999
emit x = 1e5
emit x = 1.5e-3
emit x = 1_000
emit x = 0x1F
emit x = 12abc
emit x = .5
emit x = 1.
emit x = 1. + 2
emit x = #2024-02-30#
emit x = #2024-1-5#
emit x = #20240115#
filter d > #2024-1-5# and x
"##;

#[test]
fn mistakes_are_explained() {
    let mut table = String::new();
    for line in PROGRAMS.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("# ") {
            table += &format!("{line}\n\n");
            continue;
        }
        let text = line.replace('⏎', "\n");
        let (map, source) = source(&text);
        let mut diagnostics = Diagnostics::new();
        let program = cxl::parse_program(&source, &mut diagnostics);
        table += &draw(&map, &text, &diagnostics);
        assert!(program.complete || diagnostics.has_errors(), "{text} is dropped without a word");
    }
    assert_snapshot("cxl/mistakes", &table);
}

const EXPRESSIONS: &str = r##"
filter x > 1
emit x = 1
x = 1
x > 1,
x > 1⏎- 2
x > 1⏎y < 2
# nothing
x >
(x > 1
x => 1
fn
"##;

#[test]
fn mistakes_in_expressions_are_explained() {
    let mut table = String::new();
    for line in EXPRESSIONS.lines().filter(|line| !line.is_empty()) {
        let text = line.replace('⏎', "\n");
        let (map, source) = source(&text);
        let mut diagnostics = Diagnostics::new();
        cxl::parse_expression(&source, &mut diagnostics);
        table += &draw(&map, &text, &diagnostics);
    }
    assert_snapshot("cxl/mistakes_in_expressions", &table);
}

/// The text with carets under each place, then what is said.
fn draw(map: &SourceMap, text: &str, diagnostics: &Diagnostics) -> String {
    let mut out = text.lines().map(|line| format!("  | {line}\n")).collect::<String>();
    for diagnostic in diagnostics.sorted() {
        for label in &diagnostic.labels {
            let place = map.line_column(label.span.file, label.span.start);
            let width = map.slice(label.span).lines().next().unwrap_or_default().chars().count().max(1);
            let line = if text.lines().count() > 1 { format!("{}", place.line) } else { " ".into() };
            out += &format!("{line} : {}{} {}\n", " ".repeat(place.column - 1), "^".repeat(width), label.text);
        }
        out += &format!("{}: {}\n", diagnostic.code, diagnostic.message);
        out.extend(diagnostic.notes.iter().map(|note| format!("  note: {note}\n")));
        out.extend(diagnostic.help.iter().map(|help| format!("  help: {help}\n")));
        if let Some(fix) = &diagnostic.fix {
            let mut fixed = text.to_owned();
            fixed.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.replacement);
            out += &format!("  fix:  {}\n", fixed.replace('\n', "⏎"));
        }
    }
    if diagnostics.iter().next().is_none() {
        out += "no error\n";
    }
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n\n"
}
