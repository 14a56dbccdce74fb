//! Every algorithm of the registry, and quinn-proto's controllers: nanoseconds and allocations per feedback.
//!
//! A feedback's cost is that of `on_feedback` with all that goes with it: `on_sent` of the packets, timers and notices in
//! between, and the questions for window, rate and timer that an engine asks afterwards, less what the same calls cost of a
//! controller that does nothing. Arguments are names of algorithms to measure alone.

mod quinn;
mod scene;
mod tape;

use std::env;
use std::error::Error;
use std::time::Duration;

use allocation_counter::measure;
use benches::cpu::thread_time;
use cc_algos::controller::Controller;
use cc_algos::declare::Law;
use cc_algos::registry::Algorithm;
use cc_algos::{Registry, Setup, Timestamp};

use quinn::{PEERS, Peer, Stage};
use scene::MTU;
use tape::Tape;

/// How often a tape is played: the quickest counts, since neighbours on the machine only ever take time.
const PASSES: usize = 60;
/// Packets per acknowledgement: one table each.
const PER_ACK: [u32; 2] = [1, 16];

/// A controller that a tape was played to.
struct Row {
    name: String,
    family: &'static str,
    law: &'static str,
    packets: f64,
    nanos: f64,
    allocations: f64,
}

/// The quickest passes of two kinds of controller that take turns.
fn quickest<C: ?Sized>(make: [&dyn Fn() -> Box<C>; 2], play: impl Fn(&mut C)) -> [Duration; 2] {
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..PASSES {
        for (make, quickest) in make.iter().zip(&mut quickest) {
            let mut controller = make();
            let start = thread_time();
            play(&mut controller);
            *quickest = thread_time().saturating_sub(start).min(*quickest);
        }
    }
    quickest
}

impl Row {
    fn new(name: &str, algorithm: &Algorithm, tape: &Tape) -> Self {
        let declaration = algorithm.declaration();
        let law = match declaration.bounds.law {
            Law::Model => "model",
            _ => "window",
        };
        let packets = tape.acked as f64 / tape.feedbacks as f64;
        Self { name: name.to_owned(), family: declaration.family.name(), law, packets, nanos: 0.0, allocations: 0.0 }
    }

    fn measured(mut self, tape: &Tape, [whole, empty]: [Duration; 2], allocations: u64) -> Self {
        let per_feedback = |value: f64| value / tape.feedbacks as f64;
        self.nanos = per_feedback(whole.as_nanos() as f64 - empty.as_nanos() as f64);
        self.allocations = per_feedback(allocations as f64);
        self
    }
}

fn ours(algorithm: &Algorithm, tape: &Tape, idle: &dyn Controller) -> Row {
    let times = quickest([&|| tape.start.clone_box(), &|| idle.clone_box()], |controller| tape.play(controller));
    let mut controller = tape.start.clone_box();
    let allocations = measure(|| tape.play(&mut *controller)).count_total;
    Row::new(algorithm.name(), algorithm, tape).measured(tape, times, allocations)
}

fn theirs(peer: &Peer, algorithm: &Algorithm, tape: &Tape, stage: &Stage) -> Row {
    let start = stage.build(peer, tape);
    let times = quickest([&|| start.clone_box(), &|| stage.idle()], |controller| stage.play(tape, controller));
    let mut controller = start.clone_box();
    let allocations = measure(|| stage.play(tape, &mut *controller)).count_total;
    Row::new(peer.name, algorithm, tape).measured(tape, times, allocations)
}

fn print(rows: &[Row]) {
    println!("\n| controller | family | law | packets | ns | allocations |\n|---|---|---|---|---|---|");
    for Row { name, family, law, packets, nanos, allocations } in rows {
        println!("| `{name}` | {family} | {law} | {packets:.1} | {nanos:.1} | {allocations:.3} |");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo hands on options of its own.
    let names: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let registry = Registry::builtin();
    let idle = registry.build("fixed-window", &Setup::new(Timestamp::ZERO, MTU, 1))?;
    let stage = Stage::new()?;
    for per_ack in PER_ACK {
        let (mut rows, mut peers) = (Vec::new(), Vec::new());
        for algorithm in registry.iter() {
            if !names.is_empty() && !names.iter().any(|name| name == algorithm.name()) {
                continue;
            }
            let tape = Tape::record(&registry, algorithm, per_ack)?;
            rows.push(ours(algorithm, &tape, &*idle));
            let beside = PEERS.iter().filter(|peer| peer.tape_of == algorithm.name());
            peers.extend(beside.map(|peer| theirs(peer, algorithm, &tape, &stage)));
        }
        rows.append(&mut peers);
        print(&rows);
    }
    Ok(())
}
