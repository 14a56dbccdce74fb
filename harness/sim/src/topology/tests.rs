use std::collections::{BTreeMap, BTreeSet};

use cc_algos::Ecn;
use proptest::prelude::*;

use super::*;
use crate::packet::Body;
use crate::spec::{Datacentres, FatTree, Tree, TreeLinks, TreeShape};

fn packet(flow: u32, destination: u32) -> Packet {
    Packet {
        flow,
        destination,
        entropy: flow.wrapping_mul(77),
        bytes: 1_500,
        packet_number: 0,
        sent_at: SimTime::ZERO,
        body: Body::Ping,
        ecn: Ecn::NotEct,
        hops: 0,
        int: None,
    }
}

fn link() -> LinkSpec {
    LinkSpec::fixed(Rate::from_gbps(1), Span::from_micros(1))
}

/// The ports that a packet of a flow crosses.
fn way(wiring: &Wiring<'_>, source: u32, destination: u32, flow: u32) -> Vec<usize> {
    let packet = packet(flow, destination);
    let mut way = vec![source as usize];
    while let Some(Node::Switch(switch)) = way.last().map(|port| wiring.ports[*port].to) {
        way.push(wiring.router.route(switch, &packet) as usize);
    }
    assert_eq!(wiring.ports[*way.last().unwrap()].to, Node::Host(destination), "{source} -> {destination}");
    way
}

fn datacentres(count: u32, shape: TreeShape) -> Datacentres {
    Datacentres {
        count,
        tree: Tree { shape, links: TreeLinks::alike(link(), link()) },
        borders: 2,
        core_border_links: 3,
        core_up: link(),
        border_down: link(),
        between: vec![
            LinkSpec::fixed(Rate::from_gbps(1), Span::from_millis(2)),
            LinkSpec::fixed(Rate::from_gbps(1), Span::from_millis(1)),
        ],
        between_links: 4,
    }
}

#[test]
fn every_pair_of_a_fat_tree_is_joined_by_two_four_or_six_links() {
    let topology = Topology::FatTree(FatTree { k: 4, link: link(), host_up: link() });
    let wiring = Wiring::new(&topology);
    // 16 host links each way, and 3 tiers x 16 links between switches, and 16 from the cores down.
    assert_eq!(wiring.ports.len(), 16 * 2 + 16 * 4);
    for (source, destination) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let expected = match (source / 2 == destination / 2, source / 4 == destination / 4) {
            (true, _) => 2,
            (false, true) => 4,
            (false, false) => 6,
        };
        for flow in 0..8 {
            assert_eq!(way(&wiring, source, destination, flow).len(), expected);
        }
        assert_eq!(wiring.path(HostId(source), HostId(destination)).len(), expected);
    }
}

#[test]
fn flows_spread_evenly_over_the_cores() {
    let topology = Topology::FatTree(FatTree { k: 8, link: link(), host_up: link() });
    let wiring = Wiring::new(&topology);
    let mut counts = BTreeMap::new();
    for flow in 0..16_000 {
        *counts.entry(way(&wiring, 0, 127, flow)[2]).or_insert(0_u32) += 1;
    }
    // 16 core-bound links, 1 000 flows each on average; five standard deviations of the binomial are 153.
    assert_eq!(counts.len(), 16);
    assert!(counts.values().all(|count| count.abs_diff(1_000) < 153), "{counts:?}");
}

#[test]
fn datacentres_are_joined_over_cores_and_borders_by_nine_links() {
    let topology = Topology::Datacentres(datacentres(3, TreeShape::fat_tree(4)));
    let wiring = Wiring::new(&topology);
    let mut between = BTreeSet::new();
    for (source, destination) in [(0, 16), (5, 47), (17, 3), (40, 31)] {
        for flow in 0..4_000 {
            let way = way(&wiring, source, destination, flow);
            assert_eq!(way.len(), 9, "host, edge, aggregation, core, border, border, core, aggregation, edge");
            between.insert((source, way[4]));
        }
    }
    // 2 borders here x 2 there x 4 links, for each of four pairs of datacentres.
    assert_eq!(between.len(), 64);
    assert_eq!(wiring.watched.last().map(String::as_str), Some("dc2-to-dc1"));
}

#[test]
fn the_base_path_between_datacentres_takes_the_shortest_of_their_links() {
    let topology = Topology::Datacentres(datacentres(2, TreeShape::fat_tree(4)));
    let wiring = Wiring::new(&topology);
    let path = wiring.path(HostId(0), HostId(31));
    let propagation: u64 = path.iter().map(|port| wiring.ports[*port].crossing(0)).sum();
    assert_eq!(propagation, 8 * 1_000_000 + 1_000_000_000, "eight links of 1 us and one of 1 ms");
}

#[test]
fn a_dumbbell_crosses_its_bottleneck_and_comes_back_by_the_reverse() {
    let topology = Topology::Dumbbell(Dumbbell {
        pairs: 3,
        access: link(),
        extra_delay: vec![],
        delivery: vec![],
        extra_side: Side::Left,
        bottleneck: link(),
        reverse: link(),
    });
    let wiring = Wiring::new(&topology);
    assert_eq!(way(&wiring, 1, 4, 0), [1, 12, 6 + 4]);
    assert_eq!(way(&wiring, 4, 1, 0), [4, 13, 6 + 1]);
    assert_eq!(way(&wiring, 0, 2, 1).len(), 2, "neighbours do not cross the bottleneck");
}

#[test]
fn a_star_is_two_links_from_anywhere() {
    let topology = Topology::Star(Star { hosts: 5, up: link(), down: link() });
    let wiring = Wiring::new(&topology);
    assert_eq!(way(&wiring, 4, 0, 9).len(), 2);
}

#[test]
fn trees_that_cannot_be_are_refused() {
    let message = |change: fn(&mut Datacentres)| {
        let mut some = datacentres(2, TreeShape::fat_tree(4));
        change(&mut some);
        Topology::Datacentres(some).validate().unwrap_err().to_string()
    };
    type Change = fn(&mut Datacentres);
    let cases: [(Change, &str); 5] = [
        (|some| some.borders = 0, "datacentres: 0 border switches: expected 1 to 4096"),
        (|some| some.between.clear(), "datacentres: several, and no link between them: expected at least one"),
        (|some| some.tree.shape.cores = 0, "datacentres: 0 cores of an aggregation switch: expected 1 to 4096"),
        (
            |some| (some.count, some.tree.shape.cores) = (1, 0),
            "datacentres: 4 pods without cores: expected one pod, or cores to join them",
        ),
        (
            |some| (some.tree.shape.pods, some.tree.shape.hosts) = (4_096, 4_096),
            "datacentres: [2, 4096, 2, 4096] multiplied are the hosts: expected 2 to 1048576",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
}

proptest! {
    /// Whatever the shape, every host reaches every other one, over as many links as tiers demand.
    #[test]
    fn every_host_reaches_every_other_one(
        (count, pods, edges, hosts) in (1_u32..=3, 1_u32..=3, 1_u32..=3, 1_u32..=3),
        (aggregations, cores, edge_bundle, core_bundle) in (1_u32..=3, 1_u32..=3, 1_u32..=2, 1_u32..=2),
        flow in any::<u32>(),
    ) {
        let shape = TreeShape { pods, edges, hosts, aggregations, cores, edge_bundle, core_bundle };
        let some = datacentres(count, shape);
        let all = count * shape.hosts_in_all();
        prop_assume!(all > 1);
        let topology = Topology::Datacentres(some);
        prop_assert_eq!(topology.validate().unwrap(), all);
        let wiring = Wiring::new(&topology);
        for (source, destination) in (0..all).flat_map(|a| (0..all).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let same = |size: u32| source / size == destination / size;
            let expected = match (same(hosts), same(hosts * edges), same(shape.hosts_in_all())) {
                (true, ..) => 2,
                (false, true, _) => 4,
                (false, false, true) => 6,
                (false, false, false) => 9,
            };
            prop_assert_eq!(way(&wiring, source, destination, flow).len(), expected);
            prop_assert_eq!(wiring.path(HostId(source), HostId(destination)).len(), expected);
        }
    }
}
