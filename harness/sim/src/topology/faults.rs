//! Faults of single links, put where the topology has these links.

use super::Wiring;
use crate::error::SimError;
use crate::link::impair::Outage;
use crate::rng;
use crate::spec::{Experiment, FaultLinks, FaultSpec};

impl Wiring<'_> {
    /// The same with the faults of an experiment.
    ///
    /// # Errors
    ///
    /// If there is no such link.
    pub(crate) fn with_faults(mut self, experiment: &Experiment) -> Result<Self, SimError> {
        for (index, fault) in (0..).zip(&experiment.faults) {
            let seed = rng::derive(experiment.seed, "faults", index);
            let ports = self
                .broken(fault, seed)
                .map_err(|problem| SimError::Invalid { what: format!("fault {index}"), problem })?;
            let until = fault.until.unwrap_or(experiment.duration).max(fault.from);
            for port in ports {
                self.ports[port].outages.push(Outage { from: fault.from, until });
            }
        }
        self.ports.iter_mut().for_each(|port| join(&mut port.outages));
        Ok(self)
    }

    /// The ports of a fault.
    fn broken(&self, fault: &FaultSpec, seed: u64) -> Result<Vec<usize>, String> {
        let Some(group) = self.watched.iter().position(|name| *name == fault.group) else {
            return Err(format!("no links are called `{}`: expected one of {}", fault.group, self.watched.join(", ")));
        };
        let of_group = |port: &usize| self.ports[*port].watched == Some(group as u32);
        let mut ports: Vec<usize> = (0..self.ports.len()).filter(of_group).collect();
        let count = ports.len();
        match &fault.links {
            FaultLinks::All => Ok(ports),
            FaultLinks::These(links) => {
                let port = |link: &u32| {
                    let port = ports.get(*link as usize).copied();
                    port.ok_or_else(|| format!("link {link} of `{}`: expected 0 to {}", fault.group, count - 1))
                };
                links.iter().map(port).collect()
            }
            FaultLinks::Random(links) => {
                let links = *links as usize;
                if links == 0 || links > count {
                    return Err(format!("{links} random links of `{}`: expected 1 to {count}", fault.group));
                }
                // The first places of a shuffle by Fisher and Yates.
                let mut random = rng::stream(seed, "links", 0);
                for place in 0..links {
                    let other = place + rng::below(&mut random, (count - place) as u64) as usize;
                    ports.swap(place, other);
                }
                ports.truncate(links);
                Ok(ports)
            }
        }
    }
}

/// Puts times in order, and makes one of those that touch. Empty ones go.
fn join(outages: &mut Vec<Outage>) {
    outages.retain(|outage| outage.from < outage.until);
    outages.sort_by_key(|outage| (outage.from, outage.until));
    outages.dedup_by(|next, last| {
        let touches = next.from <= last.until;
        if touches {
            last.until = last.until.max(next.until);
        }
        touches
    });
}
