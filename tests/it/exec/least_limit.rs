//! The least memory limit with which a run completes: that of the groups' content, whatever the workers, blocks and batches.

use super::lab::Lab;

const MEMORY: &str = "pipeline: { name: p, memory: { backpressure: spill } }\n";
const SOURCE: &str = "  - { type: source, name: rows, config: { type: csv, path: rows.csv, schema: [ { name: k, type: string }, \
                      { name: n, type: int }, { name: f, type: float }, { name: t, type: string } ] } }\n";

/// How a run is made: workers, bytes of a block, rows of a batch.
const WAYS: [(usize, usize, usize); 5] =
    [(1, 1 << 18, 2048), (2, 1 << 18, 2048), (4, 1 << 18, 1), (3, 5000, 7), (1, 700, 100)];

fn rows(count: usize, groups: usize) -> String {
    let row = |n: usize| {
        let text = "x".repeat(n * 13 % 30);
        format!("g{},{n},{}.5,t{text}{n}\n", n * 7 % groups, n * 7919 % 1000)
    };
    "k,n,f,t\n".to_string() + &(0..count).map(row).collect::<String>()
}

fn cull(config: &str) -> String {
    format!(
        "{MEMORY}nodes:\n{SOURCE}  - {{ type: cull, name: gate, input: rows, config: {{ removed_to: gone, {config} }} }}\n  - {{ \
         type: sink, name: out, input: gate, config: {{ type: csv, path: out.csv }} }}\n"
    )
}

fn other(kind: &str, config: &str) -> String {
    format!(
        "{MEMORY}nodes:\n{SOURCE}  - {{ type: {kind}, name: made, input: rows, config: {{ {config} }} }}\n  - {{ type: sink, \
         name: out, input: made, config: {{ type: csv, path: out.csv }} }}\n"
    )
}

/// The least limit with which a run completes, to a few bytes.
fn least(lab: &mut Lab, pipeline: &str) -> u64 {
    let (mut fails, mut completes) = (0, 1 << 20);
    lab.memory_limit = Some(completes);
    lab.run(pipeline).expect("there is plenty of memory");
    while completes - fails > 16 {
        let limit = u64::midpoint(fails, completes);
        lab.memory_limit = Some(limit);
        match lab.run(pipeline) {
            Ok(_) => completes = limit,
            Err(failure) => {
                let code = failure.diagnostic.as_ref().map(|diagnostic| diagnostic.code.to_string());
                assert_eq!(code.as_deref(), Some("E310"), "{failure:?}");
                fails = limit;
            }
        }
    }
    completes
}

/// The least and the greatest of the least limits over all ways to make a run.
fn bounds(text: &str, pipeline: &str) -> (u64, u64) {
    let of_way = |(threads, block_size, batch_size)| {
        let mut lab = Lab::new(&[("rows.csv", text)]);
        (lab.options.threads, lab.options.block_size, lab.batch_size) = (threads, block_size, Some(batch_size));
        least(&mut lab, pipeline)
    };
    WAYS.map(of_way).into_iter().fold((u64::MAX, 0), |(least, most), limit| (least.min(limit), most.max(limit)))
}

#[test]
fn what_a_cull_keeps_of_groups_is_what_counts() {
    let text = rows(1500, 150);
    let rules = [
        "partition_by: [k], rules: [ { name: r, drop_group_when: \"max(t) > 'zzz'\" } ]",
        "partition_by: [k], rules: [ { name: r, drop_group_when: \"sum(n) > 5 and sum(f) > 2.0 and avg(f) > 1.0\" } ]",
        "partition_by: [k, n], rules: [ { name: r, drop_group_when: \"count(*) > 5 and k > 'x'\" } ]",
        "partition_by: [k], order_by: [f], rules: [ { name: r, drop_group_when: \"collect(t).length() > 7\" } ]",
    ];
    for config in rules {
        let (least, most) = bounds(&text, &cull(config));
        assert!(most - least <= 16, "{config}: {least} to {most}");
    }
}

#[test]
fn what_a_reshape_keeps_of_groups_is_what_counts() {
    let config = "partition_by: [k, n], rules: [ { name: r, when: \"n > 3\", mutate: { set: { t: \"'x'\" } } } ]";
    let (least, most) = bounds(&rows(1500, 150), &other("reshape", config));
    assert!(most - least <= 16, "{least} to {most}");
}

/// States of groups go to disk; what has to fit is a single one, with the frames that are read back.
#[test]
fn what_an_aggregate_needs_is_one_group() {
    let text = rows(500, 50);
    let programs = ["max(t)", "sum(f)", "collect(t).length()"];
    for program in programs {
        let config = format!("group_by: [k], strategy: hash, cxl: \"emit x = {program}\"");
        let (least, most) = bounds(&text, &other("aggregate", &config));
        assert!(most - least <= 512, "{program}: {least} to {most}");
    }
}
