//! What holds for every balancer, and what they are told.

use std::collections::BTreeSet;

use cc_algos::Registry;
use cc_algos::controller::PacketRecord;
use proptest::prelude::*;

use super::testing::{entropies, fate, view};
use super::*;
use crate::flow::SenderConfig;

const SPECS: &[&str] = &[
    "ecmp",
    "spray",
    "spray?order=round-robin&entropies=3",
    "flowlet?gap=10ns&entropies=9",
    "plb?rounds=2&idle_rounds=1&pause=50ns&entropies=17",
    "plb?idle_rounds=0",
    "reps?buffer=2&explore=3&freezing=20ns&entropies=5",
    "reps?freeze=loss&explore=0",
    "reps?freeze=never",
    "bitmap?entropies=8",
    "bitmap?entropies=1&max_penalty=255",
    "uno?subflows=3&entropies=12",
    "uno",
];

fn build(spec: &str, seed: u64) -> Box<dyn Balancer> {
    Balancing::builtin(spec).unwrap().build(&Setup::new(Timestamp::ZERO, seed))
}

/// The bound of a specification's entropies.
fn bound(spec: &str) -> u64 {
    let balancing = Balancing::builtin(spec).unwrap();
    balancing
        .args()
        .values()
        .find_map(|(name, value)| match value {
            Value::Integer(count) if name == "entropies" => Some(count),
            _ => None,
        })
        .unwrap_or(u64::from(draw::FLOW_LABELS))
}

#[test]
fn ecmp_keeps_a_flow_on_one_route_and_flows_apart() {
    let seen = entropies(&mut Ecmp::new(1), 100);
    assert!(seen.iter().all(|entropy| *entropy == seen[0] && *entropy < 1 << 20), "{seen:?}");
    let flows: BTreeSet<u32> = (0..100).map(|seed| entropies(&mut Ecmp::new(seed), 1)[0]).collect();
    assert!(flows.len() > 95, "of 100 draws from 2^20 hardly two are equal, but there are {}", flows.len());
}

#[test]
fn all_are_built_by_name_and_spelt_canonically() {
    let balancers = Balancers::builtin();
    for kind in balancers.iter() {
        let plain = balancers.resolve(kind.name()).unwrap();
        let spelt: Vec<_> = plain.args().values().map(|(name, value)| format!("{name}={value}")).collect();
        if !spelt.is_empty() {
            let spelt = format!("{}?{}", kind.name(), spelt.join("&"));
            assert_eq!(balancers.resolve(&spelt).unwrap().to_string(), kind.name(), "{spelt}");
        }
    }
    assert_eq!(Balancing::default().to_string(), "ecmp");
    let named: BTreeSet<_> = SPECS.iter().map(|spec| spec.split('?').next().unwrap()).collect();
    assert!(balancers.iter().all(|kind| named.contains(kind.name())), "the properties below leave one out");
}

#[test]
fn errors_name_what_is_known() {
    for (spec, message) in [
        ("", "unknown balancer ``: expected one of bitmap, ecmp, flowlet, plb, reps, spray, uno"),
        ("blb", "unknown balancer `blb`: did you mean `plb`?"),
        ("ecmp?seed=1", "`ecmp` has no parameter `seed`: it has none"),
        ("uno?subflow=8", "`uno` has no parameter `subflow`: did you mean `subflows`?"),
        ("uno?subflows=0", "`uno?subflows=0`: expected 1 to 4096"),
        ("uno?subflows=8&subflows=9", "`uno`: parameter `subflows` is given twice"),
        ("flowlet?gap=soon", "`flowlet?gap=soon`: expected a time such as 100us, 25ms or 1s"),
        ("spray?order=random?", "`spray?order=random?`: expected one of random, round-robin"),
        ("spray?64", "`spray?64`: expected `name` or `name?key=value&key=value`"),
        ("bitmap?entropies=48", "`bitmap`: `entropies=48`: expected a power of two, such as 32 or 64"),
    ] {
        assert_eq!(Balancing::builtin(spec).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_registry_is_open() {
    let mut balancers = Balancers::builtin();
    let constant = Kind::new("constant", "always the same", "ours", |args, _| {
        Ok(Box::new(Ecmp::with_entropy(Entropy(args.integer("entropy") as u32))))
    });
    let constant = constant.with_param(Param::new("entropy", Value::Integer(7), "which"));
    assert!(balancers.register(constant).is_none());
    let mut built = balancers.resolve("constant?entropy=9").unwrap().build(&Setup::new(Timestamp::ZERO, 1));
    assert_eq!(entropies(&mut *built, 2), [9, 9]);
}

/// What a balancer was told.
#[derive(Debug, Default, Clone)]
struct Listener(Vec<(u64, u32, Option<Verdict>)>);

impl Balancer for Listener {
    fn next_entropy(&mut self, _path: &PathView) -> Entropy {
        Entropy(0)
    }
    fn on_verdict(&mut self, fate: &Fate, _path: &PathView) {
        self.0.push((fate.packet_number, fate.entropy.0, Some(fate.verdict)));
    }
    fn on_probe_timeout(&mut self, path: &PathView) {
        self.0.push((path.next_packet_number, 0, None));
    }
    fn listens(&self) -> bool {
        true
    }
    fn clone_box(&self) -> Box<dyn Balancer> {
        Box::new(self.clone())
    }
}

fn sender() -> Sender<()> {
    let setup = cc_algos::Setup::new(Timestamp::ZERO, 1_200, 1);
    let controller = Registry::builtin().build("fixed-window?window=12kB", &setup).unwrap();
    Sender::new(SenderConfig::default(), controller, Timestamp::ZERO)
}

#[test]
fn a_report_names_each_packets_route_and_fate() {
    let packet = |number, arrived_as| {
        let mut record = PacketRecord::new(number, 1_000, Timestamp::ZERO);
        record.entropy = Entropy(10 + number as u32);
        record.arrived_as = arrived_as;
        record
    };
    let mut work = Workspace::<()>::new();
    work.acked = vec![packet(1, Some(Ecn::Ect0)), packet(2, Some(Ecn::Ce))];
    work.spurious = vec![packet(3, None)];
    work.lost = vec![packet(4, None)];
    let timeout = Cause::Timeout { consecutive: 1 };
    for (cause, lost) in [(Cause::Ack, Verdict::Nack), (Cause::Trim, Verdict::Nack), (timeout, Verdict::Timeout)] {
        work.lost_by = Some(cause);
        let mut listener = Listener::default();
        report(Timestamp::ZERO, &sender(), &work, &mut listener);
        let fates = [(1, Verdict::Good), (2, Verdict::Ecn), (3, Verdict::Good), (4, lost)];
        assert_eq!(listener.0, fates.map(|(number, verdict)| (number, 10 + number as u32, Some(verdict))));
    }
}

#[test]
fn a_probe_timeout_is_told_with_the_path_as_it_is() {
    let (mut sender, mut work) = (sender(), Workspace::new());
    let path = PathId(0);
    let packet = crate::flow::Outgoing { path, entropy: Entropy(1), bytes: 1_000, content: (), block: None };
    sender.on_sent(Timestamp::ZERO, packet);
    let due = sender.next_timeout().unwrap();
    sender.on_timeout(due, &mut work);
    let mut listener = Listener::default();
    report(due, &sender, &work, &mut listener);
    assert_eq!(listener.0, [(1, 0, None)]);
    let view = sender.view(due, path);
    assert_eq!((view.now, view.in_flight, view.min_rtt), (due, 1, None));
}

/// A step of a history: so many nanoseconds later, a packet leaves or something is told of one that left.
#[derive(Clone, Copy, Debug)]
enum Step {
    Leave,
    Tell { back: u64, verdict: Verdict },
    Foreign { entropy: u32, verdict: Verdict },
    Probe,
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![Just(Verdict::Good), Just(Verdict::Ecn), Just(Verdict::Nack), Just(Verdict::Timeout)]
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Leave),
        4 => (0_u64..40, verdicts()).prop_map(|(back, verdict)| Step::Tell { back, verdict }),
        1 => (any::<u32>(), verdicts()).prop_map(|(entropy, verdict)| Step::Foreign { entropy, verdict }),
        1 => Just(Step::Probe),
    ];
    prop::collection::vec((prop_oneof![4 => 0_u64..30, 1 => any::<u64>()], step), 1..200)
}

/// The entropies of the packets that leave.
fn play(balancer: &mut dyn Balancer, steps: &[(u64, Step)]) -> Vec<u32> {
    let (mut now, mut left) = (0_u64, Vec::new());
    for (later, step) in steps {
        now = now.saturating_add(*later);
        let mut view = view(now);
        view.next_packet_number = left.len() as u64;
        view.in_flight = now % 3;
        view.min_rtt = Some(Span::from_nanos(now % 50));
        match *step {
            Step::Leave => left.push(balancer.next_entropy(&view).0),
            Step::Tell { back, verdict } => {
                let number = (left.len() as u64).saturating_sub(1 + back);
                let entropy = left.get(number as usize).copied().unwrap_or_default();
                balancer.on_verdict(&Fate { packet_number: number, ..fate(Entropy(entropy), verdict) }, &view);
            }
            Step::Foreign { entropy, verdict } => balancer.on_verdict(&fate(Entropy(entropy), verdict), &view),
            Step::Probe => balancer.on_probe_timeout(&view),
        }
    }
    left
}

fn honest(steps: &[(u64, Step)]) -> Vec<(u64, Step)> {
    steps.iter().filter(|(_, step)| !matches!(step, Step::Foreign { .. })).copied().collect()
}

proptest! {
    #[test]
    fn whatever_is_told_nothing_panics_and_the_same_seed_chooses_the_same(steps in steps(), seed in any::<u64>()) {
        for spec in SPECS {
            let (mut first, mut second) = (build(spec, seed), build(spec, seed));
            let half = steps.len() / 2;
            let mut chosen = play(&mut *first, &steps[..half]);
            prop_assert_eq!(&chosen, &play(&mut *second, &steps[..half]), "{}", spec);
            let mut copy = first.clone_box();
            let rest = play(&mut *first, &steps[half..]);
            prop_assert_eq!(&rest, &play(&mut *copy, &steps[half..]), "a copy of {}", spec);
            chosen.extend(rest);
        }
    }

    #[test]
    fn entropies_stay_below_their_bound(steps in steps(), seed in any::<u64>()) {
        for spec in SPECS {
            let chosen = play(&mut *build(spec, seed), &honest(&steps));
            prop_assert!(chosen.iter().all(|entropy| u64::from(*entropy) < bound(spec)), "{}: {:?}", spec, chosen);
        }
    }

    #[test]
    fn who_does_not_listen_chooses_the_same_whatever_is_told(steps in steps(), seed in any::<u64>()) {
        for spec in SPECS.iter().filter(|spec| !build(spec, seed).listens()) {
            let chosen = play(&mut *build(spec, seed), &steps);
            let mut untold = build(spec, seed);
            let mut now = 0_u64;
            let silent: Vec<_> = steps.iter().filter_map(|(later, step)| {
                now = now.saturating_add(*later);
                matches!(step, Step::Leave).then(|| untold.next_entropy(&view(now)).0)
            }).collect();
            prop_assert_eq!(chosen, silent, "{}", spec);
        }
    }
}
