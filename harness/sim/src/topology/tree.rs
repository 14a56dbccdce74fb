//! Trees of edge, aggregation and core switches, and border switches that join several.

use super::{Choices, Node, PortPlan, Router, Wiring, plan};
use crate::spec::{Datacentres, FatTree, LinkSpec, TreeShape};

/// What stands where in a tree or several. Switches: edges by datacentre and pod, then aggregation switches likewise, cores by
/// datacentre, borders by datacentre.
#[derive(Debug)]
pub(crate) struct TreeRouter {
    switches: Box<[Switch]>,
    /// By host.
    places: Box<[Place]>,
    /// Port of the first link from an edge switch to a host.
    first_edge_down: u32,
    shape: TreeShape,
    /// Ports of a border switch that lead to one of the other datacentres.
    between: u32,
}

/// Where a host stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    edge: u32,
    /// Counted over all datacentres.
    pod: u32,
    datacentre: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Edge,
    Aggregation,
    Core,
    Border,
}

#[derive(Clone, Copy, Debug)]
struct Switch {
    tier: Tier,
    /// Its pod, counted over all datacentres; of a core or border switch the datacentre.
    region: u32,
    /// Its first port downwards; unused of edge switches, whose hosts' ports are known by the host.
    first_down: u32,
    first_up: u32,
    /// Ports upwards; of a border switch those downwards.
    count: u32,
}

impl TreeRouter {
    /// The ports of `switch` that lead to `destination`.
    #[inline]
    pub(super) fn choices(&self, switch: u32, destination: u32) -> Choices {
        let here = &self.switches[switch as usize];
        let to = &self.places[destination as usize];
        let up = Choices { first: here.first_up, count: here.count };
        let shape = &self.shape;
        match here.tier {
            Tier::Edge if to.edge == switch => Choices::one(self.first_edge_down + destination),
            Tier::Aggregation if to.pod == here.region => {
                let edge = to.edge - to.pod * shape.edges;
                Choices { first: here.first_down + edge * shape.edge_bundle, count: shape.edge_bundle }
            }
            Tier::Core if to.datacentre == here.region => {
                let pod = to.pod - to.datacentre * shape.pods;
                Choices { first: here.first_down + pod * shape.core_bundle, count: shape.core_bundle }
            }
            Tier::Border if to.datacentre == here.region => Choices { first: here.first_down, count: here.count },
            Tier::Border => {
                let slot = to.datacentre - u32::from(to.datacentre > here.region);
                Choices { first: here.first_up + slot * self.between, count: self.between }
            }
            Tier::Edge | Tier::Aggregation | Tier::Core => up,
        }
    }
}

/// Links by tier and direction.
struct Links<'a> {
    host_up: &'a LinkSpec,
    edge_down: &'a LinkSpec,
    edge_up: &'a LinkSpec,
    aggregation_down: &'a LinkSpec,
    aggregation_up: &'a LinkSpec,
    core_down: &'a LinkSpec,
}

/// What joins datacentres.
struct Joins<'a> {
    count: u32,
    borders: u32,
    core_border_links: u32,
    between_links: u32,
    links: Option<&'a Datacentres>,
}

pub(super) fn lay_fat_tree(tree: &FatTree) -> Wiring<'_> {
    let link = &tree.link;
    let links = Links {
        host_up: &tree.host_up,
        edge_down: link,
        edge_up: link,
        aggregation_down: link,
        aggregation_up: link,
        core_down: link,
    };
    let joins = Joins { count: 1, borders: 0, core_border_links: 0, between_links: 0, links: None };
    lay(TreeShape::fat_tree(tree.k), &links, &joins)
}

pub(super) fn lay_datacentres(datacentres: &Datacentres) -> Wiring<'_> {
    let links = &datacentres.tree.links;
    let links = Links {
        host_up: &links.host_up,
        edge_down: &links.edge_down,
        edge_up: &links.edge_up,
        aggregation_down: &links.aggregation_down,
        aggregation_up: &links.aggregation_up,
        core_down: &links.core_down,
    };
    let (borders, core_border_links, between_links) = match datacentres.count {
        1 => (0, 0, 0),
        _ => (datacentres.borders, datacentres.core_border_links, datacentres.between_links),
    };
    let joins = Joins { count: datacentres.count, borders, core_border_links, between_links, links: Some(datacentres) };
    lay(datacentres.tree.shape, &links, &joins)
}

/// How many switches of each tier there are, and where their numbers begin.
struct Numbers {
    shape: TreeShape,
    /// Edges of all datacentres.
    edges: u32,
    /// The first aggregation switch, core and border switch.
    first_aggregation: u32,
    first_core: u32,
    first_border: u32,
    switches: u32,
}

impl Numbers {
    fn new(shape: TreeShape, joins: &Joins<'_>) -> Self {
        let edges = joins.count * shape.pods * shape.edges;
        let first_core = edges + joins.count * shape.pods * shape.aggregations;
        let first_border = first_core + joins.count * shape.cores_in_all();
        let switches = first_border + joins.count * joins.borders;
        Self { shape, edges, first_aggregation: edges, first_core, first_border, switches }
    }

    fn hosts(&self) -> u32 {
        self.edges * self.shape.hosts
    }
}

fn lay<'a>(shape: TreeShape, links: &Links<'a>, joins: &Joins<'a>) -> Wiring<'a> {
    let numbers = Numbers::new(shape, joins);
    let mut layout = Layout { ports: Vec::new(), switches: Vec::new(), watched: Vec::new() };
    let hosts = numbers.hosts();
    layout.group("host-up", (0..hosts).map(|host| (links.host_up, Node::Switch(host / shape.hosts))));
    layout.group("edge-down", (0..hosts).map(|host| (links.edge_down, Node::Host(host))));
    layout.lay_tree(&numbers, links, joins);
    if let Some(datacentres) = joins.links
        && datacentres.count > 1
    {
        layout.lay_borders(&numbers, datacentres);
    }
    let place = |host| {
        let edge = host / shape.hosts;
        let pod = edge / shape.edges;
        Place { edge, pod, datacentre: pod / shape.pods }
    };
    let router = TreeRouter {
        switches: layout.switches.into(),
        places: (0..hosts).map(place).collect(),
        first_edge_down: hosts,
        shape,
        between: joins.borders * joins.between_links,
    };
    Wiring { ports: layout.ports, router: Router::Tree(router), watched: layout.watched }
}

/// Ports and switches laid so far.
struct Layout<'a> {
    ports: Vec<PortPlan<'a>>,
    switches: Vec<Switch>,
    watched: Vec<String>,
}

impl<'a> Layout<'a> {
    /// Adds ports under one name and says where they begin.
    fn group(&mut self, name: &str, links: impl Iterator<Item = (&'a LinkSpec, Node)>) -> u32 {
        let (first, group) = (self.ports.len() as u32, self.watched.len() as u32);
        self.watched.push(name.to_owned());
        self.ports.extend(links.map(|(link, to)| plan(link, to, Some(group))));
        first
    }

    fn lay_tree(&mut self, numbers: &Numbers, links: &Links<'a>, joins: &Joins<'a>) {
        let shape = numbers.shape;
        let (pods, edges, aggregations) = (joins.count * shape.pods, shape.edges, shape.aggregations);
        // (pod, switch of the pod, neighbour), each as often as there are parallel links.
        let pairs = |from: u32, to: u32, bundle: u32| {
            let all = (0..pods).flat_map(move |pod| (0..from).map(move |switch| (pod, switch)));
            all.flat_map(move |(pod, switch)| (0..to * bundle).map(move |port| (pod, switch, port / bundle)))
        };
        let aggregation = |pod: u32, index: u32| numbers.first_aggregation + pod * aggregations + index;
        let core = |pod: u32, index: u32| numbers.first_core + pod / shape.pods * shape.cores_in_all() + index;
        let up = pairs(edges, aggregations, shape.edge_bundle);
        let edge_up =
            self.group("edge-up", up.map(|(pod, _, index)| (links.edge_up, Node::Switch(aggregation(pod, index)))));
        let down = pairs(aggregations, edges, shape.edge_bundle);
        let aggregation_down = self.group(
            "aggregation-down",
            down.map(|(pod, _, index)| (links.aggregation_down, Node::Switch(pod * edges + index))),
        );
        let up = pairs(aggregations, shape.cores, shape.core_bundle);
        let aggregation_up = self.group(
            "aggregation-up",
            up.map(|(pod, from, index)| (links.aggregation_up, Node::Switch(core(pod, from * shape.cores + index)))),
        );
        let cores = (0..joins.count).flat_map(|dc| (0..shape.cores_in_all()).map(move |core| (dc, core)));
        let down = cores.flat_map(|(dc, core)| {
            (0..shape.pods * shape.core_bundle).map(move |port| (dc * shape.pods + port / shape.core_bundle, core))
        });
        let core_down = self.group(
            "core-down",
            down.map(|(pod, core)| (links.core_down, Node::Switch(aggregation(pod, core / shape.cores.max(1))))),
        );
        let switch = |tier, region, first_down, first_up, count| Switch { tier, region, first_down, first_up, count };
        let ups = aggregations * shape.edge_bundle;
        self.switches
            .extend((0..pods * edges).map(|edge| switch(Tier::Edge, edge / edges, 0, edge_up + edge * ups, ups)));
        let (downs, ups) = (edges * shape.edge_bundle, shape.cores * shape.core_bundle);
        self.switches.extend((0..pods * aggregations).map(|index| {
            let (down, up) = (aggregation_down + index * downs, aggregation_up + index * ups);
            switch(Tier::Aggregation, index / aggregations, down, up, ups)
        }));
        let (downs, ups) = (shape.pods * shape.core_bundle, joins.borders * joins.core_border_links);
        let core_up = self.ports.len() as u32;
        let cores = shape.cores_in_all();
        self.switches.extend(
            (0..joins.count * cores)
                .map(|core| switch(Tier::Core, core / cores, core_down + core * downs, core_up + core * ups, ups)),
        );
    }

    /// The border switches: from each core to them, back, and from datacentre to datacentre.
    fn lay_borders(&mut self, numbers: &Numbers, datacentres: &'a Datacentres) {
        let Datacentres { count, borders, core_border_links: parallel, between_links, .. } = *datacentres;
        let cores = numbers.shape.cores_in_all();
        let border = |dc: u32, index: u32| Node::Switch(numbers.first_border + dc * borders + index);
        let all_cores = (0..count).flat_map(|dc| (0..cores).map(move |_| dc));
        let up = all_cores.flat_map(|dc| (0..borders * parallel).map(move |port| (dc, port / parallel)));
        self.group("core-up", up.map(|(dc, index)| (&datacentres.core_up, border(dc, index))));
        let all_borders = || (0..count).flat_map(|dc| (0..borders).map(move |_| dc));
        let down = all_borders().flat_map(|dc| (0..cores * parallel).map(move |port| dc * cores + port / parallel));
        let border_down = self
            .group("border-down", down.map(|core| (&datacentres.border_down, Node::Switch(numbers.first_core + core))));
        let first_up = self.ports.len() as u32;
        // A total for each direction between two datacentres; the ports of a border switch stand together all the same.
        let first_group = self.watched.len() as u32;
        let pairs = (0..count).flat_map(|from| (0..count).filter(move |to| *to != from).map(move |to| (from, to)));
        self.watched.extend(pairs.map(|(from, to)| format!("dc{from}-to-dc{to}")));
        for from in all_borders() {
            for (slot, to) in (0..count).filter(|to| *to != from).enumerate() {
                let group = first_group + from * (count - 1) + slot as u32;
                for (index, link) in (0..borders).flat_map(|index| (0..between_links).map(move |link| (index, link))) {
                    let link = &datacentres.between[link as usize % datacentres.between.len()];
                    self.ports.push(plan(link, border(to, index), Some(group)));
                }
            }
        }
        let (downs, ups) = (cores * parallel, (count - 1) * borders * between_links);
        self.switches.extend((0..).zip(all_borders()).map(|(index, dc)| Switch {
            tier: Tier::Border,
            region: dc,
            first_down: border_down + index * downs,
            first_up: first_up + index * ups,
            count: downs,
        }));
        debug_assert_eq!(self.switches.len(), numbers.switches as usize, "every switch has its ports");
    }
}
