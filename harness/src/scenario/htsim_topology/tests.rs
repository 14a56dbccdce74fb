use proptest::prelude::*;

use super::*;

const TREE: &str = "\
# three tiers of 8-port switches
Nodes 128
Tiers 3
Podsize 16

Tier 0
Oversubscribed 1
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 8
Downlink_Latency_ns 1000
Bundle 1";

#[test]
fn three_tiers_of_eight_port_switches_are_a_fat_tree() {
    let plan = TreePlan::parse(TREE).unwrap();
    assert_eq!(plan.shape, TreeShape::fat_tree(8));
    assert_eq!(plan.tiers.len(), 3);
    let tier = plan.tiers[2];
    assert_eq!((tier.rate, tier.delay, tier.switch_delay), (Rate::from_gbps(100), Span::from_micros(1), Span::ZERO));
    assert_eq!(plan.tiers[0].queue_down, None);
}

#[test]
fn oversubscription_bundles_and_queues_are_read() {
    let text = TREE.replace("Oversubscribed 1", "Oversubscribed 2\nQueue_Down 100000\nQueue_Up 200000").replacen(
        "Radix_Up 4",
        "Radix_Up 2",
        1,
    );
    let plan = TreePlan::parse(&text).unwrap();
    assert_eq!((plan.shape.aggregations, plan.shape.hosts), (2, 4));
    assert_eq!((plan.tiers[0].queue_down, plan.tiers[0].queue_up), (Some(100_000), Some(200_000)));
    let bundled = TREE.replacen("Bundle 1", "Bundle 2", 1).replacen(
        "Radix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1000\nBundle",
        "Radix_Down 8\nRadix_Up 4\nDownlink_Latency_ns 1000\nBundle",
        1,
    );
    let plan = TreePlan::parse(&bundled).unwrap();
    assert_eq!((plan.shape.aggregations, plan.shape.edge_bundle), (2, 2));
}

#[test]
fn two_tiers_are_one_pod() {
    let upper = TREE.split("Tier 2").next().unwrap().replace("Tiers 3", "Tiers 2").replace("Podsize 16", "Podsize 128");
    let text = upper.replacen(
        "Radix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1000\nBundle",
        "Radix_Down 32\nDownlink_Latency_ns 1000\nBundle",
        1,
    );
    let plan = TreePlan::parse(&text).unwrap();
    assert_eq!((plan.shape.pods, plan.shape.edges, plan.shape.aggregations, plan.shape.cores), (1, 32, 4, 0));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases = [
        ("Nodes 128\n", "", "no `Nodes` above 0 before the first tier"),
        ("Nodes 128", "Nodes many", "line 2: `Nodes`: expected a whole number, found many"),
        ("Nodes 128", "Nodes", "line 2: `Nodes`: expected a whole number, found nothing"),
        ("Nodes 128", "Nodes -5", "line 2: `Nodes`: expected a whole number, found -5"),
        ("Nodes 128", "Nodes 128 hosts", "line 2: `hosts` after the value of `Nodes`: expected nothing more"),
        ("Nodes 128", "Nodes 68719476736", "line 2: `Nodes` is 68719476736: expected at most 1000000000"),
        ("Nodes 128", "Nodes 16777216", "16777216 nodes: expected at most 1048576"),
        (
            "Downlink_Latency_ns 1000",
            "Downlink_Latency_ns 99999999999",
            "line 11: `Downlink_Latency_ns` is 99999999999: expected at most 1000000000",
        ),
        ("Nodes 128", "Nodes 120", "line 6: Nodes is 120: expected a multiple of Podsize, which is 16"),
        ("Tiers 3", "Tiers 4", "4 tiers: expected 2 or 3"),
        ("Tiers 3", "Tiers 2", "line 21: tier 2 of a tree of 2"),
        ("Podsize 16", "Podsize 18", "line 6: Nodes is 128: expected a multiple of Podsize, which is 18"),
        ("Tier 2", "Tier 3", "line 21: tier 3: expected 0 to 2"),
        ("Tier 2", "Tier 1", "line 21: tier 1 a second time"),
        ("Tier 0\n", "", "line 6: `Oversubscribed` before any `Tier`: expected Nodes, Tiers or Podsize"),
        ("Radix_Up 4", "Radix_Upp 4", "line 10: unknown key `Radix_Upp`: did you mean `radix_up`?"),
        ("Radix_Up 4\n", "", "line 6: tier 0 has no `Radix_Up`"),
        ("Radix_Down 4\n", "Radix_Down 4\nRadix_Down 4\n", "line 10: `Radix_Down` a second time"),
        ("Radix_Down 8", "Radix_Down 8\nRadix_Up 1", "line 21: Radix_Up 1 of the top tier: nothing stands above it"),
        ("Radix_Down 8", "Radix_Down 7", "line 21: Radix_Down of tier 2 is 7: expected 8, pods x Bundle"),
        (
            "Oversubscribed 1",
            "Oversubscribed 4",
            "line 6: tier 0 says Oversubscribed 4, but 400 Gb/s come from below and 400 go up",
        ),
    ];
    for (from, to, expected) in cases {
        let text = TREE.replacen(from, to, 1);
        assert_ne!(text, TREE, "{from}");
        assert_eq!(TreePlan::parse(&text).unwrap_err().to_string(), expected, "{from} -> {to}");
    }
}

proptest! {
    /// Whatever numbers stand in a file, it is read or refused, and what is read has as many hosts as it says.
    #[test]
    fn no_numbers_make_it_panic(changes in proptest::collection::vec((0_usize..40, 0_u32..64, any::<u64>()), 0..4)) {
        let mut lines: Vec<String> = TREE.lines().map(str::to_owned).collect();
        for (at, shift, number) in changes {
            let at = at % lines.len();
            let line = &mut lines[at];
            if let Some((key, _)) = line.clone().rsplit_once(' ') {
                *line = format!("{key} {}", number >> shift);
            }
        }
        if let Ok(plan) = TreePlan::parse(&lines.join("\n")) {
            prop_assert!((1..=1 << 20).contains(&plan.shape.hosts_in_all()));
            prop_assert!(plan.longest_rtt(Some(Span::from_secs(1))) < Span::from_secs(60));
        }
    }
}
