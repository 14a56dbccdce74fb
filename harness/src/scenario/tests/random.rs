//! Scenarios at random.

use cc_algos::{Rate, Span};
use proptest::prelude::*;
use sim::link::impair::{JitterSchedule, JitterStep};
use sim::spec::{FaultLinks, FaultSpec, Switching};
use transport::flow::code::Parity;
use transport::flow::{EcnMode, Pacing};

use super::super::*;
use crate::workload::{Arrivals, MatrixSource, Only, Pattern, Player, Published, Sizes, Volume, Workload};

fn span() -> impl Strategy<Value = Span> {
    (0_u64..20_000_000_000).prop_map(Span::from_nanos)
}

fn positive_span() -> impl Strategy<Value = Span> {
    (1_u64..20_000_000_000).prop_map(Span::from_nanos)
}

fn rate() -> impl Strategy<Value = Rate> {
    (1_u64..1_000_000_000_000).prop_map(Rate::from_bps)
}

fn amount() -> impl Strategy<Value = value::Amount> {
    use value::Amount;
    prop_oneof![
        (0.001_f64..100.0).prop_map(Amount::Bdp),
        (1_u64..1_000_000_000).prop_map(Amount::Bytes),
        (1_u64..1_000_000).prop_map(Amount::Packets),
    ]
}

fn sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        (1_u64..1_000_000_000).prop_map(Sizes::Fixed),
        (1_u64..1_000, 1_000_u64..1_000_000).prop_map(|(min, max)| Sizes::Uniform(min, max)),
        proptest::sample::select(Published::ALL.to_vec()).prop_map(Sizes::Published),
        Just(Sizes::File("own/sizes.txt".into())),
    ]
}

fn queue() -> impl Strategy<Value = Queue> {
    let codel = || {
        (positive_span(), positive_span(), any::<bool>()).prop_map(|(target, interval, ecn)| CoDel {
            target,
            interval,
            ecn,
        })
    };
    prop_oneof![
        Just(Queue::DropTail),
        codel().prop_map(Queue::CoDel),
        codel().prop_map(Queue::FqCoDel),
        (positive_span(), positive_span(), any::<bool>()).prop_map(|(target, update, ecn)| Queue::Pie(Pie {
            target,
            update,
            ecn
        })),
        (positive_span(), span(), positive_span())
            .prop_map(|(target, mark_from, mark_range)| { Queue::DualPi2(DualPi2 { target, mark_from, mark_range }) }),
        trimming().prop_map(Queue::Trimming),
    ]
}

fn trimming() -> impl Strategy<Value = Trimming> {
    let victim = prop_oneof![Just(Victim::Arriving), Just(Victim::ArrivingOrNewest)];
    let mark_at = prop_oneof![Just(MarkAt::Enqueue), Just(MarkAt::Dequeue)];
    let optional = (proptest::option::of(amount()), proptest::option::of(1_u32..100));
    (optional, victim, mark_at).prop_map(|((control_buffer, control_per_data), victim, mark_at)| Trimming {
        control_buffer,
        control_per_data,
        victim,
        mark_at,
    })
}

fn loss() -> impl Strategy<Value = Loss> {
    let p = || 0.0_f64..=1.0;
    prop_oneof![
        Just(Loss::None),
        p().prop_map(Loss::Bernoulli),
        (p(), p(), p(), p()).prop_map(|(to_bad, to_good, loss_good, loss_bad)| Loss::GilbertElliott {
            to_bad,
            to_good,
            loss_good,
            loss_bad
        }),
        (2_u64..1_000).prop_map(Loss::Periodic),
        proptest::collection::btree_set(0_u64..1_000, 1..4)
            .prop_map(|packets| Loss::Scripted(packets.into_iter().collect())),
        (3_u32..=64, proptest::collection::vec(0.0_f64..0.3, 1..4))
            .prop_map(|(length, probabilities)| Loss::Blocks { length, probabilities }),
    ]
}

fn fault() -> impl Strategy<Value = FaultSpec> {
    let links = prop_oneof![
        Just(FaultLinks::All),
        proptest::collection::vec(0_u32..8, 1..4).prop_map(FaultLinks::These),
        (1_u32..8).prop_map(FaultLinks::Random),
    ];
    ("[a-z0-9-]{1,12}", links, span(), proptest::option::of(positive_span())).prop_map(
        |(group, links, from, length)| FaultSpec { group, links, from, until: length.map(|length| from + length) },
    )
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let reorder = proptest::option::of(
        (0.0_f64..=1.0, positive_span()).prop_map(|(probability, delay)| Reorder { probability, delay }),
    );
    let jitter = (span(), jitter_schedule());
    (loss(), jitter, reorder, 0.0_f64..=1.0, 0.0_f64..=1.0, proptest::option::of(2_u32..100)).prop_map(
        |(loss, (jitter, jitter_schedule), reorder, duplicate, corrupt, ack_thinning)| Impairments {
            loss,
            jitter,
            jitter_schedule,
            reorder,
            duplicate,
            corrupt,
            ack_thinning,
        },
    )
}

fn jitter_schedule() -> impl Strategy<Value = JitterSchedule> {
    let steps = proptest::collection::btree_map(span(), span(), 0..4)
        .prop_map(|steps| JitterSchedule::new(steps.into_iter().map(|(at, delay)| JitterStep { at, delay })).unwrap());
    (steps, proptest::bool::ANY).prop_map(|(schedule, repeats)| {
        let last = schedule.steps().last().map_or(Span::ZERO, |step| step.at);
        if repeats && !schedule.is_empty() { schedule.repeating(last + Span::from_nanos(1)).unwrap() } else { schedule }
    })
}

fn service() -> impl Strategy<Value = Service> {
    let offset = prop_oneof![Just(TraceOffset::Random), span().prop_map(TraceOffset::At)];
    prop_oneof![
        rate().prop_map(Service::Rate),
        ("[a-z:?=&\"\\\\ ]{1,12}", offset).prop_map(|(name, offset)| Service::Trace { name, offset }),
    ]
}

fn marking() -> impl Strategy<Value = Marking> {
    prop_oneof![
        amount().prop_map(Marking::Step),
        (amount(), amount(), 0.0_f64..=1.0).prop_map(|(min, max, probability)| Marking::Ramp { min, max, probability }),
    ]
}

fn phantom() -> impl Strategy<Value = Phantom> {
    let feed = prop_oneof![Just(PhantomFeed::Arrivals), Just(PhantomFeed::Departures)];
    let role = prop_oneof![Just(PhantomRole::Either), Just(PhantomRole::Observed)];
    (0.01_f64..=1.0, amount(), marking(), feed, role).prop_map(|(drain, size, marking, feed, role)| Phantom {
        drain,
        size,
        marking,
        feed,
        role,
    })
}

fn link() -> BoxedStrategy<Link> {
    let marking = proptest::option::of(marking());
    let mark_at = prop_oneof![Just(MarkAt::Enqueue), Just(MarkAt::Dequeue)];
    let policer = proptest::option::of((rate(), 1_u64..1_000_000).prop_map(|(rate, burst)| Policer { rate, burst }));
    let changes = proptest::collection::btree_map(
        0_u64..1_000_000,
        prop_oneof![rate().prop_map(ChangeTo::Rate), Just(ChangeTo::Down), Just(ChangeTo::Up)],
        0..3,
    )
    .prop_map(|changes| changes.into_iter().map(|(at, to)| Change { at: Span::from_micros(at), to }).collect());
    let near_source = proptest::option::of(
        (amount(), 1_u64..1_000_000, 0_u32..=1_000).prop_map(|(set_point, every, weight)| NearSource {
            set_point,
            every,
            weight,
        }),
    );
    let buffer = proptest::option::of(amount());
    let marks = (marking, mark_at, proptest::option::of(phantom()));
    (service(), buffer, queue(), marks, (policer, near_source), impairments(), changes)
        .prop_map(
            |(service, buffer, queue, (marking, mark_at, phantom), (policer, near_source), impairments, changes)| {
                Link {
                    phantom: phantom.filter(|_| matches!(service, Service::Rate(_))),
                    service,
                    buffer,
                    marking: marking.filter(|_| queue.marks_by_backlog()),
                    mark_at: if queue == Queue::DropTail { mark_at } else { MarkAt::Enqueue },
                    queue,
                    policer,
                    near_source,
                    impairments,
                    changes,
                }
            },
        )
        .boxed()
}

fn topology() -> impl Strategy<Value = Topology> {
    let dumbbell = (
        1_u32..100,
        span(),
        (
            proptest::collection::vec(span(), 0..3),
            prop_oneof![Just(Side::Left), Just(Side::Right)],
            proptest::collection::vec(jitter_schedule(), 0..3),
        ),
        rate(),
        link(),
        proptest::option::of(link().prop_map(Box::new)),
    )
        .prop_map(|(pairs, rtt, (extra_rtt, extra_rtt_side, pair_jitter), access_rate, bottleneck, reverse)| {
            Topology::Dumbbell(Dumbbell {
                pairs,
                rtt,
                extra_rtt,
                extra_rtt_side,
                pair_jitter,
                access_rate,
                bottleneck,
                reverse,
            })
        });
    prop_oneof![
        dumbbell,
        (2_u32..100, span(), link()).prop_map(|(hosts, delay, link)| Topology::Star(Star { hosts, delay, link })),
        (2_u32..=32, span(), link(), switching()).prop_map(|(half, delay, link, switches)| Topology::FatTree(
            FatTree { k: 2 * half, delay, link, switches }
        )),
        datacentres().prop_map(Topology::Datacentres).boxed(),
    ]
}

fn switching() -> impl Strategy<Value = Switching> {
    let flowlet = span().prop_map(|gap| Switching::Flowlet { gap });
    prop_oneof![Just(Switching::Ecmp), Just(Switching::Spray), flowlet, Just(Switching::Adaptive)]
}

fn datacentres() -> impl Strategy<Value = Datacentres> {
    let tree = prop_oneof![
        (2_u32..=32, span()).prop_map(|(half, delay)| Tree::FatTree { k: 2 * half, delay }),
        "[a-z./\"]{1,12}".prop_map(Tree::File),
    ];
    let steady = || {
        (link(), rate())
            .prop_map(|(link, rate)| match link.service {
                Service::Rate(_) => link,
                Service::Trace { .. } => Link { service: Service::Rate(rate), ..link },
            })
            .boxed()
    };
    let counts = (1_u32..4, 1_u32..9, 1_u32..9, 1_u32..9);
    let delays = proptest::collection::vec(span(), 1..4);
    let hosts_and_switches = (any::<bool>(), switching());
    (counts, tree, delays, hosts_and_switches, steady(), proptest::option::of(steady().prop_map(Box::new))).prop_map(
        |(
            (count, borders, core_border_links, between_links),
            tree,
            between_delay,
            (hosts_mark, switches),
            link,
            border,
        )| {
            Datacentres {
                count,
                tree,
                borders,
                core_border_links,
                between_links,
                between_delay,
                hosts_mark,
                link,
                border,
                switches,
            }
        },
    )
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let volume = || prop_oneof![Just(Volume::Unlimited), sizes().prop_map(Volume::Sized)];
    let arrivals =
        || prop_oneof![(0.001_f64..10.0).prop_map(Arrivals::Load), (0.001_f64..1e9).prop_map(Arrivals::PerSecond)];
    let stop = || proptest::option::of(positive_span());
    let bulk = (1_u32..100, volume(), span(), span(), stop(), span()).prop_map(
        |(flows, volume, start, stagger, hold, jitter)| Pattern::Bulk { flows, volume, start, stagger, hold, jitter },
    );
    let incast = (1_u32..100, sizes(), 1_u32..100, positive_span(), span(), span()).prop_map(
        |(fan_in, sizes, epochs, period, start, jitter)| Pattern::Incast {
            fan_in,
            sizes,
            epochs,
            period,
            start,
            jitter,
        },
    );
    prop_oneof![
        bulk,
        (sizes(), arrivals(), span(), stop()).prop_map(|(sizes, arrivals, start, stop)| Pattern::Poisson {
            sizes,
            arrivals,
            start,
            stop
        }),
        (sizes(), sizes(), arrivals(), span(), span(), stop()).prop_map(
            |(request, response, arrivals, think, start, stop)| Pattern::RequestResponse {
                request,
                response,
                arrivals,
                think,
                start,
                stop
            }
        ),
        incast,
        (volume(), span(), span()).prop_map(|(volume, start, jitter)| Pattern::Permutation { volume, start, jitter }),
        (1_u32..100, 1_u64..1_000_000, positive_span(), span(), span())
            .prop_map(|(flows, burst, period, start, jitter)| Pattern::OnOff { flows, burst, period, start, jitter }),
        ("[a-z./\"\n]{1,12}", prop_oneof![Just(Only::All), Just(Only::Intra), Just(Only::Inter)], any::<bool>())
            .prop_map(|(text, only, inline)| {
                let source = if inline { MatrixSource::Text(text) } else { MatrixSource::File(text) };
                Pattern::Matrix { source, only }
            }),
    ]
}

fn coding() -> impl Strategy<Value = Option<Coding>> {
    let parity = prop_oneof![
        (0_u8..=100).prop_map(Parity::Fixed),
        (0_u8..=50, 0_u8..=50).prop_map(|(min, more)| Parity::Adaptive { min, max: min + more }),
    ];
    let timeout = prop_oneof![
        Just(BlockTimeout::InitialRtt),
        positive_span().prop_map(BlockTimeout::After),
        Just(BlockTimeout::FullQueues),
    ];
    proptest::option::of((1_u8..=155, parity, timeout).prop_map(|(data, parity, timeout)| Coding {
        data,
        parity,
        timeout,
    }))
}

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    let workload = ("[a-z]{1,6}", pattern(), any::<bool>()).prop_map(|(group, pattern, measured)| Workload {
        group,
        player: if measured { Player::Rival } else { Player::Named("cubic?beta=0.5".into()) },
        measured,
        pattern,
    });
    let initial_rtt = proptest::option::of(positive_span());
    let endpoints = (256_u64..65_536, 1_u32..1_000, span(), any::<bool>(), positive_span(), initial_rtt).prop_map(
        |(mtu, ack_every, ack_delay, pacing, granularity, initial_rtt)| Endpoints {
            mtu,
            ack_every,
            ack_delay,
            loss: if pacing { LossDetection::Rack } else { LossDetection::PerPacketRto(granularity) },
            pacing: if pacing { Pacing::ByController } else { Pacing::Off },
            ecn: if pacing { EcnMode::Off } else { EcnMode::Trust },
            granularity,
            initial_rtt,
        },
    );
    let subject = pattern().prop_map(|pattern| Workload {
        group: "subject".into(),
        player: Player::Subject,
        measured: true,
        pattern,
    });
    let workloads = (subject, proptest::collection::vec(workload, 0..3)).prop_map(|(subject, mut others)| {
        others.push(subject);
        others
    });
    let head = ("[a-z0-9-]{1,20}", any::<String>(), positive_span(), 1_u32..1_000, (any::<bool>(), coding()));
    let rest = (proptest::option::of(positive_span()), proptest::collection::vec(fault(), 0..3));
    (head, topology(), endpoints, workloads, rest).prop_map(
        |(
            (name, description, duration, seeds, (oracle, coding)),
            topology,
            endpoints,
            workloads,
            (sample_every, faults),
        )| {
            let rivalry = workloads.iter().any(|workload| workload.player == Player::Rival);
            let rivals = match (rivalry, oracle) {
                (false, _) => Rivals::None,
                (true, false) => Rivals::Each,
                (true, true) => Rivals::Named(vec!["newreno".into()]),
            };
            Scenario {
                name,
                description,
                duration,
                seeds,
                algorithms: vec!["cubic?beta=0.5&hystart=off".into(), "newreno".into()],
                baseline: oracle.then(|| "newreno".into()),
                rivals,
                sample_every,
                coding,
                balance: if oracle { "spray?order=round-robin" } else { "ecmp" }.into(),
                oracle,
                topology,
                endpoints,
                faults,
                workloads,
            }
        },
    )
}
