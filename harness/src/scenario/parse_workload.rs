//! The `[[workload]]` tables of a scenario.

use cc_algos::Span;

use super::error::ScenarioError;
use super::parse::MAX_COUNT;
use super::read::{Entry, Section};
use crate::workload::{Arrivals, MatrixSource, Only, Pattern, Player, Sizes, Volume, Workload};

pub(super) fn read(entry: &Entry<'_>) -> Result<Vec<Workload>, ScenarioError> {
    let workloads = entry.entries()?.iter().map(read_one).collect::<Result<Vec<_>, _>>()?;
    if workloads.is_empty() {
        return Err(entry.fault("expected at least one workload"));
    }
    if !workloads.iter().any(|workload| workload.measured) {
        return Err(entry.fault("no workload is measured: expected one without `measured = false`"));
    }
    Ok(workloads)
}

#[derive(Clone, Copy)]
enum Kind {
    Bulk,
    Poisson,
    RequestResponse,
    Incast,
    Permutation,
    Matrix,
    OnOff,
}

const KINDS: &[(&str, Kind)] = &[
    ("bulk", Kind::Bulk),
    ("poisson", Kind::Poisson),
    ("request-response", Kind::RequestResponse),
    ("incast", Kind::Incast),
    ("permutation", Kind::Permutation),
    ("matrix", Kind::Matrix),
    ("on-off", Kind::OnOff),
];

fn read_matrix_source(section: &mut Section<'_>) -> Result<MatrixSource, ScenarioError> {
    match (section.optional("file"), section.optional("connections")) {
        (Some(file), None) => Ok(MatrixSource::File(file.text()?.to_owned())),
        (None, Some(text)) => Ok(MatrixSource::Text(text.text()?.to_owned())),
        (None, None) => Err(section.fault("expected `file` or `connections`")),
        (Some(_), Some(text)) => Err(text.fault("expected either `file` or `connections`")),
    }
}

/// Names of which flows of a matrix are meant.
pub(super) const ONLY: &[(&str, Only)] = &[("all", Only::All), ("intra", Only::Intra), ("inter", Only::Inter)];

fn read_one(entry: &Entry<'_>) -> Result<Workload, ScenarioError> {
    let mut section = entry.section()?;
    let kind = section.required("kind")?;
    let pattern = match kind.choice(KINDS)? {
        Kind::Bulk => read_bulk(&mut section)?,
        Kind::Poisson => Pattern::Poisson {
            sizes: read_sizes(&section.required("sizes")?)?,
            arrivals: read_arrivals(&mut section)?,
            start: read_start(&mut section)?,
            stop: section.maybe("stop", Entry::positive_span)?,
        },
        Kind::RequestResponse => Pattern::RequestResponse {
            request: section.or("request", Sizes::Fixed(200), read_sizes)?,
            response: read_sizes(&section.required("response")?)?,
            arrivals: read_arrivals(&mut section)?,
            think: section.or("think", Span::ZERO, Entry::span)?,
            start: read_start(&mut section)?,
            stop: section.maybe("stop", Entry::positive_span)?,
        },
        Kind::Incast => Pattern::Incast {
            fan_in: section.required("fan_in")?.count(1, MAX_COUNT)?,
            sizes: read_sizes(&section.required("sizes")?)?,
            epochs: section.or("epochs", 1, |entry| entry.count(1, MAX_COUNT))?,
            period: section.or("period", Span::from_millis(10), Entry::positive_span)?,
            start: read_start(&mut section)?,
            jitter: read_jitter(&mut section)?,
        },
        Kind::Permutation => Pattern::Permutation {
            volume: section.or("sizes", Volume::Unlimited, read_volume)?,
            start: read_start(&mut section)?,
            jitter: read_jitter(&mut section)?,
        },
        Kind::Matrix => Pattern::Matrix {
            source: read_matrix_source(&mut section)?,
            only: section.or("only", Only::All, |entry| entry.choice(ONLY))?,
        },
        Kind::OnOff => Pattern::OnOff {
            flows: section.or("flows", 1, |entry| entry.count(1, MAX_COUNT))?,
            burst: section.required("burst")?.bytes()?,
            period: section.required("period")?.positive_span()?,
            start: read_start(&mut section)?,
            jitter: read_jitter(&mut section)?,
        },
    };
    let workload = Workload {
        group: section.or("group", pattern.kind().to_owned(), |entry| Ok(entry.text()?.to_owned()))?,
        player: section.or("algorithm", Player::Subject, |entry| {
            Ok(match entry.text()? {
                "rival" => Player::Rival,
                name => Player::Named(name.to_owned()),
            })
        })?,
        measured: section.or("measured", true, Entry::switch)?,
        pattern,
    };
    section.finish()?;
    Ok(workload)
}

fn read_bulk(section: &mut Section<'_>) -> Result<Pattern, ScenarioError> {
    Ok(Pattern::Bulk {
        flows: section.or("flows", 1, |entry| entry.count(1, MAX_COUNT))?,
        volume: section.or("sizes", Volume::Unlimited, read_volume)?,
        start: read_start(section)?,
        stagger: section.or("stagger", Span::ZERO, Entry::span)?,
        hold: section.maybe("hold", Entry::positive_span)?,
        jitter: read_jitter(section)?,
    })
}

fn read_start(section: &mut Section<'_>) -> Result<Span, ScenarioError> {
    section.or("start", Span::ZERO, Entry::span)
}

fn read_jitter(section: &mut Section<'_>) -> Result<Span, ScenarioError> {
    section.or("jitter", Span::ZERO, Entry::span)
}

fn read_sizes(entry: &Entry<'_>) -> Result<Sizes, ScenarioError> {
    let text = entry.text()?;
    text.parse().map_err(|reason: String| entry.fault(format!("`{text}`: {reason}")))
}

fn read_volume(entry: &Entry<'_>) -> Result<Volume, ScenarioError> {
    match entry.as_text() {
        Some("unlimited") => Ok(Volume::Unlimited),
        _ => read_sizes(entry).map(Volume::Sized),
    }
}

fn read_arrivals(section: &mut Section<'_>) -> Result<Arrivals, ScenarioError> {
    let positive = |entry: &Entry<'_>, max: f64, what: &str| {
        let number = entry.number()?;
        if number > 0.0 && number <= max {
            Ok(number)
        } else {
            Err(entry.fault(format!("expected {what}, found {number}")))
        }
    };
    match (section.optional("load"), section.optional("per_second")) {
        (Some(load), None) => Ok(Arrivals::Load(positive(&load, 10.0, "a load above 0, where 1 is the whole link")?)),
        (None, Some(rate)) => Ok(Arrivals::PerSecond(positive(&rate, 1e9, "flows per second, above 0")?)),
        (Some(load), Some(_)) => Err(load.fault("flows come at a `load` or `per_second`, not both")),
        (None, None) => Err(section.required("load").err().unwrap_or_else(|| section.fault("missing key `load`"))),
    }
}
