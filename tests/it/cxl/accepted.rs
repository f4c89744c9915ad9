//! How accepted texts are read.

use super::{expression, program, sexpr};
use crate::support::assert_snapshot;

const EXPRESSIONS: &str = r##"
# Literals
null
true
now
now()
_
it
42
9223372036854775807
-9223372036854775808
1.50
"text"
'a "quoted" text'
"quote \" tab \t backslash \\ é \u00e9"
#2024-02-29#
#0001-01-01#
# Names
amount
sum
each
outer
debug
o.amount
o.receipt.amount
a.b.c.d
a.filter
a.b.in.for.match
# Binding strength
1 + 2 * 3
2 - 3 - 4
100 / 10 / 5
-5.abs()
(-5).abs()
- -5
not 1 == 2
not not a
null ?? 1 + 2
1 + null ?? 5
a ?? b ?? c
true or false and false
a and b or c and d
if false then 1 else 2 + 10
(if true then 1 else 2) + 10
true == not false
true == not a == b
1 + not a == b and c
2 * if true then 3 else 4
2 * if true then 3 else 4 + 5
a ?? if b then c ?? d
if a then b else if c then d else e
if a then if b then c else d
if a then if b then c else d else e
if a then (if b then c) else d
if if a then b else c then d
if not a then b
not if a then b else c
- if a then b else c
a and not if b then c
(a == b) == true
a == (b < c)
(a ?? b) ?? c
((((a))))
# Methods, indexes, calls
5.min(3)
1.5.round(1)
"a".upper
name.lower()
a.b.lower()
a.b.c.lower()
a.b.c.d.lower()
(a).b
(a.b).c(1, 2)
now.year
it.amount
items[0]
items[0]["k"].trim()
a.b[1]
items.filter(it => it > 1).map(it => it.x + 1)
f(it => it, 2)
count(*)
count()
weighted_avg(price, qty)
median(x)
# System variables
$pipeline.name
$pipeline.name.upper()
$pipeline.name.upper
$source.file
$source.file.upper()
$source.orders.total
$source.orders.total.abs
$doc.head.date
$vars.rate * 2
$window.sum(amount)
$window.first().name
$window.count
$window.any(a > 1)
$nonsense.x
# Choices
match x { 1 => "a", 2 => "b", _ => "c" }
match { x > 1 => "a", _ => "b", }
match x { 1 or 2 => "a" 3 => "b" _ => match y { _ => 1 } }
match ({ a: 1 }) { _ => 1 }
match x ?? {} { _ => 1 }
match match a { _ => b } { _ => c }
match x { if a then b => 1 _ => if c then d else e }
match x {}
match x { _ => 1 }.abs()
# Arrays and maps
[]
[1, 2, 3,]
[[1], [2, [3]]]
[x * 2 for x in items]
[x for x in items if x > 1]
[x for x in if a then b else c if d]
{}
{ a: 1, "b c": 2, [k + "x"]: 3, }
{ sum: 1 }.keys()
"##;

#[test]
fn expressions_are_read_by_their_binding_strength() {
    let mut table = String::new();
    for line in EXPRESSIONS.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("# ") {
            table += &format!("{line}\n");
            continue;
        }
        let (tree, diagnostics) = expression(line);
        let errors = diagnostics.iter().map(|d| format!("  !! {}", d.message)).collect::<String>();
        table += &format!("{line:55} {}{errors}\n", sexpr::expr(&tree));
    }
    assert_snapshot("cxl/expressions", &table);
}

const PROGRAMS: &str = r##"
emit total = a + b
let x = 1
filter x > 1
distinct
distinct by key
use math
use lib.math as m
emit $pipeline.seen = 1
emit $record.note = "x"
trace "seen"
trace info "seen"
trace info
trace debug.upper
trace debug -9223372036854775808
emit a = (x⏎ - 9223372036854775807)⏎-9223372036854775808
trace warn if x > 1 "big"
trace if x ?? true "big"
trace if match x { 1 => true, _ => false } "one"
trace if x then "big"
trace (if x then "big")
trace if x then "big" else "small"
emit each item in items { emit x = item }
emit each it in items outer { let y = it.a⏎ emit y = y }
emit each x in outer outer { emit x = x }
emit each x in { a: 1 }.values() { emit x = x }
emit each x in match y { _ => z } { emit x = x }
emit each a in x { emit each b in a { emit c = b } }
emit each = 1
count(*) > 3  # a remark
#
# Where lines end
emit a = 1⏎emit b = 2
emit a = 1 # one⏎# two⏎emit b = 2
⏎⏎emit a = 1⏎⏎⏎emit b = 2⏎⏎
emit a = x⏎  ?? y⏎  ?? z⏎emit b = 1
emit p =⏎  m.set(⏎ "a",⏎ 1⏎ )⏎emit q = 1
emit a = 1 +⏎ 2
emit a = (1⏎ + 2⏎ - 3)
emit a = 1⏎- 2
emit a = x⏎ .trim()⏎ # between⏎ .upper()
emit a = if x⏎ then 1⏎ else 2⏎emit b = 2
emit a =⏎⏎ if x then⏎ 1⏎ else⏎ 2⏎emit b = 2
emit a = x⏎ and y⏎ or z⏎ == 1⏎ % 2
emit a = not⏎ x
emit a = match x {⏎ 1 => "a",⏎ 2 => "b"⏎ -3 => "c"⏎ (4) => "d"⏎⏎ _ =>⏎ "e"⏎}⏎emit b = 1
emit a = match⏎ x⏎ {⏎ _ => 1⏎ }
emit a = {⏎ k: 1,⏎ l:⏎ 2,⏎ }⏎emit b = [⏎ 1,⏎ 2⏎ ]
emit each x in items {⏎ emit a = x⏎ let b = {⏎ k: 1⏎ }⏎⏎ emit c = b⏎}⏎emit d = 1
emit a = 1␍emit b = 2␍⏎emit c = 3
"##;

#[test]
fn programs_are_cut_into_statements() {
    let mut table = String::new();
    for line in PROGRAMS.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            table += &format!("{line}\n");
            continue;
        }
        let (tree, diagnostics) = program(&line.replace('⏎', "\n").replace('␍', "\r"));
        table += &format!("{line}\n");
        for statement in &tree.statements {
            table += &format!("    {}\n", sexpr::statement(statement));
        }
        table.extend(diagnostics.iter().map(|d| format!("    !! {}\n", d.message)));
    }
    assert_snapshot("cxl/programs", &table);
}
