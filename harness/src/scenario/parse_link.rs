//! The `link` tables of a scenario.

use cc_algos::Span;
use sim::link::impair::{BlockLoss, JitterSchedule};

use super::error::ScenarioError;
use super::jitter;
use super::model::{
    Change, ChangeTo, CoDel, DualPi2, Impairments, Link, Loss, MarkAt, Marking, NearSource, Phantom, PhantomFeed,
    PhantomRole, Pie, Policer, Queue, Reorder, Service, TraceOffset, Trimming, Victim,
};
use super::read::{Entry, Section};
use super::value::Amount;

pub(super) fn read(mut section: Section<'_>) -> Result<Link, ScenarioError> {
    let service = read_service(&mut section)?;
    let queue = section.or("queue", Queue::DropTail, read_queue)?;
    let marking = match section.optional("marking") {
        Some(entry) if !queue.marks_by_backlog() => {
            let problem = "only droptail and trimming queues mark by backlog: other disciplines mark by their own law";
            return Err(entry.fault(problem));
        }
        Some(entry) => Some(read_marking(&entry)?),
        None => None,
    };
    let mark_at = match section.optional("mark_at") {
        Some(entry) if queue != Queue::DropTail => {
            return Err(entry.fault("only droptail queues have a choice here: write it into the table of `trimming`"));
        }
        Some(entry) => entry.choice(MARK_AT)?,
        None => MarkAt::Enqueue,
    };
    let phantom = match section.optional("phantom") {
        Some(entry) if !matches!(service, Service::Rate(_)) => {
            return Err(entry.fault("a phantom queue drains at a share of a constant rate: a trace has none"));
        }
        Some(entry) => Some(read_phantom(&entry, &queue, marking.as_ref())?),
        None => None,
    };
    let link = Link {
        service,
        buffer: section.or("buffer", Some(Amount::Bdp(1.0)), |entry| match entry.as_text() {
            Some("unlimited") => Ok(None),
            _ => entry.amount().map(Some),
        })?,
        queue,
        marking,
        mark_at,
        phantom,
        policer: section.maybe("policer", |entry| read_policer(entry.section()?))?,
        near_source: section.maybe("near_source", |entry| read_near_source(entry.section()?))?,
        impairments: read_impairments(&mut section)?,
        changes: section.or("changes", Vec::new(), read_changes)?,
    };
    section.finish()?;
    Ok(link)
}

fn read_service(section: &mut Section<'_>) -> Result<Service, ScenarioError> {
    match (section.optional("trace"), section.optional("rate")) {
        (Some(trace), Some(_)) => Err(trace.fault("a link has a `rate` or a `trace`, not both")),
        (Some(trace), None) => {
            let name = trace.text()?.to_owned();
            if name.is_empty() {
                return Err(trace.fault("expected `sample:NAME`, `gen:NAME` or a file"));
            }
            let offset = section.or("trace_offset", TraceOffset::Random, |entry| match entry.as_text() {
                Some("random") => Ok(TraceOffset::Random),
                _ => entry.span().map(TraceOffset::At),
            })?;
            Ok(Service::Trace { name, offset })
        }
        (None, _) => section.required("rate")?.rate().map(Service::Rate),
    }
}

#[derive(Clone, Copy)]
enum QueueKind {
    DropTail,
    CoDel,
    FqCoDel,
    Pie,
    DualPi2,
    Trimming,
}

const QUEUES: &[(&str, QueueKind)] = &[
    ("droptail", QueueKind::DropTail),
    ("codel", QueueKind::CoDel),
    ("fq-codel", QueueKind::FqCoDel),
    ("pie", QueueKind::Pie),
    ("dualpi2", QueueKind::DualPi2),
    ("trimming", QueueKind::Trimming),
];

fn read_queue(entry: &Entry<'_>) -> Result<Queue, ScenarioError> {
    if !entry.is_table() {
        return Ok(match entry.choice(QUEUES)? {
            QueueKind::DropTail => Queue::DropTail,
            QueueKind::CoDel => Queue::CoDel(CoDel::default()),
            QueueKind::FqCoDel => Queue::FqCoDel(CoDel::default()),
            QueueKind::Pie => Queue::Pie(Pie::default()),
            QueueKind::DualPi2 => Queue::DualPi2(DualPi2::default()),
            QueueKind::Trimming => Queue::Trimming(Trimming::default()),
        });
    }
    let mut section = entry.section()?;
    let queue = match section.required("kind")?.choice(QUEUES)? {
        QueueKind::DropTail => Queue::DropTail,
        QueueKind::CoDel => Queue::CoDel(read_codel(&mut section)?),
        QueueKind::FqCoDel => Queue::FqCoDel(read_codel(&mut section)?),
        QueueKind::Pie => {
            let base = Pie::default();
            Queue::Pie(Pie {
                target: section.or("target", base.target, Entry::positive_span)?,
                update: section.or("update", base.update, Entry::positive_span)?,
                ecn: section.or("ecn", base.ecn, Entry::switch)?,
            })
        }
        QueueKind::DualPi2 => {
            let base = DualPi2::default();
            Queue::DualPi2(DualPi2 {
                target: section.or("target", base.target, Entry::positive_span)?,
                mark_from: section.or("mark_from", base.mark_from, Entry::span)?,
                mark_range: section.or("mark_range", base.mark_range, Entry::positive_span)?,
            })
        }
        QueueKind::Trimming => Queue::Trimming(read_trimming(&mut section)?),
    };
    section.finish()?;
    Ok(queue)
}

/// Names of what is cut.
pub(super) const VICTIMS: &[(&str, Victim)] =
    &[("arriving", Victim::Arriving), ("arriving-or-newest", Victim::ArrivingOrNewest)];

/// Names of when packets are marked.
pub(super) const MARK_AT: &[(&str, MarkAt)] = &[("enqueue", MarkAt::Enqueue), ("dequeue", MarkAt::Dequeue)];

fn read_trimming(section: &mut Section<'_>) -> Result<Trimming, ScenarioError> {
    let base = Trimming::default();
    Ok(Trimming {
        control_buffer: section.maybe("control_buffer", Entry::amount)?,
        control_per_data: section.or("control_per_data", base.control_per_data, |entry| match entry.as_text() {
            Some("strict") => Ok(None),
            Some(_) => Err(entry.fault("expected a whole number, or \"strict\" for always before data")),
            None => entry.count(1, 1_000_000).map(Some),
        })?,
        victim: section.or("victim", base.victim, |entry| entry.choice(VICTIMS))?,
        mark_at: section.or("mark_at", base.mark_at, |entry| entry.choice(MARK_AT))?,
    })
}

fn read_codel(section: &mut Section<'_>) -> Result<CoDel, ScenarioError> {
    let base = CoDel::default();
    Ok(CoDel {
        target: section.or("target", base.target, Entry::positive_span)?,
        interval: section.or("interval", base.interval, Entry::positive_span)?,
        ecn: section.or("ecn", base.ecn, Entry::switch)?,
    })
}

fn read_marking(entry: &Entry<'_>) -> Result<Marking, ScenarioError> {
    if !entry.is_table() {
        return entry.amount().map(Marking::Step);
    }
    let mut section = entry.section()?;
    let marking = Marking::Ramp {
        min: section.required("min")?.amount()?,
        max: section.required("max")?.amount()?,
        probability: section.or("probability", 1.0, Entry::probability)?,
    };
    section.finish()?;
    Ok(marking)
}

/// Names of what fills a phantom queue.
pub(super) const FEEDS: &[(&str, PhantomFeed)] =
    &[("arrivals", PhantomFeed::Arrivals), ("departures", PhantomFeed::Departures)];

/// Names of what becomes of a phantom queue's opinion.
pub(super) const ROLES: &[(&str, PhantomRole)] = &[
    ("alone", PhantomRole::Alone),
    ("either", PhantomRole::Either),
    ("both", PhantomRole::Both),
    ("observed", PhantomRole::Observed),
];

fn read_phantom(entry: &Entry<'_>, queue: &Queue, marking: Option<&Marking>) -> Result<Phantom, ScenarioError> {
    let mut section = entry.section()?;
    let phantom = Phantom {
        drain: section.or("drain", 0.95, Entry::share)?,
        size: section.required("size")?.amount()?,
        marking: read_marking(&section.required("marking")?)?,
        feed: section.or("feed", PhantomFeed::Arrivals, |entry| entry.choice(FEEDS))?,
        role: section.or("role", PhantomRole::Alone, |entry| entry.choice(ROLES))?,
    };
    match (phantom.role, marking) {
        (PhantomRole::Alone, Some(_)) => Err(section
            .fault("the link's own `marking` has no say beside role \"alone\": leave it out, or choose another role")),
        (PhantomRole::Both, None) if queue.marks_by_backlog() => {
            Err(section.fault("role \"both\" needs a `marking` of the link's own queue"))
        }
        _ => section.finish().map(|()| phantom),
    }
}

fn read_policer(mut section: Section<'_>) -> Result<Policer, ScenarioError> {
    let policer = Policer { rate: section.required("rate")?.rate()?, burst: section.required("burst")?.bytes()? };
    section.finish()?;
    Ok(policer)
}

fn read_near_source(mut section: Section<'_>) -> Result<NearSource, ScenarioError> {
    let near_source = NearSource {
        set_point: section.required("set_point")?.amount()?,
        every: section.or("every", 150_000, Entry::bytes)?,
        weight: section.or("weight", 2, |entry| entry.count(0, 1_000))?,
    };
    section.finish()?;
    Ok(near_source)
}

fn read_impairments(section: &mut Section<'_>) -> Result<Impairments, ScenarioError> {
    Ok(Impairments {
        loss: section.or("loss", Loss::None, read_loss)?,
        jitter: section.or("jitter", Span::ZERO, Entry::span)?,
        jitter_schedule: section.or("jitter_schedule", JitterSchedule::default(), jitter::read)?,
        reorder: section.maybe("reorder", |entry| {
            let mut section = entry.section()?;
            let reorder = Reorder {
                probability: section.required("probability")?.probability()?,
                delay: section.required("delay")?.positive_span()?,
            };
            section.finish()?;
            Ok(reorder)
        })?,
        duplicate: section.or("duplicate", 0.0, Entry::probability)?,
        corrupt: section.or("corrupt", 0.0, Entry::probability)?,
        ack_thinning: section.maybe("ack_thinning", |entry| entry.count(2, 1_000))?,
    })
}

#[derive(Clone, Copy)]
enum LossKind {
    Bernoulli,
    GilbertElliott,
    Periodic,
    Scripted,
    Blocks,
}

fn read_loss(entry: &Entry<'_>) -> Result<Loss, ScenarioError> {
    if !entry.is_table() {
        return entry
            .probability()
            .map(|probability| if probability > 0.0 { Loss::Bernoulli(probability) } else { Loss::None });
    }
    let kinds = [
        ("bernoulli", LossKind::Bernoulli),
        ("gilbert-elliott", LossKind::GilbertElliott),
        ("periodic", LossKind::Periodic),
        ("scripted", LossKind::Scripted),
        ("blocks", LossKind::Blocks),
    ];
    let mut section = entry.section()?;
    let loss = match section.required("kind")?.choice(&kinds)? {
        LossKind::Bernoulli => Loss::Bernoulli(section.required("probability")?.probability()?),
        LossKind::GilbertElliott => Loss::GilbertElliott {
            to_bad: section.required("to_bad")?.probability()?,
            to_good: section.required("to_good")?.probability()?,
            loss_good: section.or("loss_good", 0.0, Entry::probability)?,
            loss_bad: section.or("loss_bad", 1.0, Entry::probability)?,
        },
        LossKind::Periodic => Loss::Periodic(u64::from(section.required("every")?.count(2, u32::MAX)?)),
        LossKind::Scripted => {
            let entry = section.required("packets")?;
            let packets = entry.entries()?.iter().map(Entry::whole).collect::<Result<Vec<_>, _>>()?;
            if packets.is_empty() || packets.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(entry.fault("expected packet numbers in ascending order"));
            }
            Loss::Scripted(packets)
        }
        LossKind::Blocks => {
            let length = section.required("length")?.count(1, BlockLoss::LONGEST)?;
            let entry = section.required("probabilities")?;
            let probabilities = entry.entries()?.iter().map(Entry::probability).collect::<Result<Vec<_>, _>>()?;
            let fits = (1..=length as usize).contains(&probabilities.len()) && probabilities.iter().sum::<f64>() <= 1.0;
            if !fits {
                return Err(entry.fault(format!(
                    "expected 1 to {length} probabilities, of one loss, of two and so on, whose sum is at most 1"
                )));
            }
            Loss::Blocks { length, probabilities }
        }
    };
    section.finish()?;
    Ok(loss)
}

fn read_changes(entry: &Entry<'_>) -> Result<Vec<Change>, ScenarioError> {
    let mut changes: Vec<Change> = Vec::new();
    for entry in entry.entries()? {
        let mut section = entry.section()?;
        let at = section.required("at")?.span()?;
        if changes.last().is_some_and(|last| last.at >= at) {
            return Err(section.fault(format!("changes must stand in order of time: {at} does not come later")));
        }
        let to = match (section.optional("rate"), section.optional("link")) {
            (Some(rate), None) => ChangeTo::Rate(rate.rate()?),
            (None, Some(link)) => link.choice(&[("down", ChangeTo::Down), ("up", ChangeTo::Up)])?,
            _ => return Err(section.fault("expected either `rate` or `link = \"down\"` or `link = \"up\"`")),
        };
        section.finish()?;
        changes.push(Change { at, to });
    }
    Ok(changes)
}
