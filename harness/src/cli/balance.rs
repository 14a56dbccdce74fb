//! `--balance`: another balancer than the scenario's.

use std::path::Path;
use std::sync::Arc;

use transport::flow::balance::Balancers;

use super::error::CliError;
use crate::scenario::{Prepared, Scenario};

#[derive(Debug, clap::Args)]
pub(super) struct BalanceArgs {
    /// Which routes packets take where there are several: a balancer (see `list balancers`), with parameters after `?`
    /// [default: what each scenario says]. An algorithm may name its own after `@`: uno@reps.
    #[arg(long, value_name = "NAME?KEY=VALUE")]
    balance: Option<String>,
}

impl BalanceArgs {
    /// The scenario with this balancer and all that it names.
    pub(super) fn prepare(
        &self,
        mut scenario: Scenario,
        base: &Path,
        balancers: &Arc<Balancers>,
    ) -> Result<Prepared, CliError> {
        if let Some(balance) = &self.balance {
            scenario.balance = balancers.resolve(balance)?.to_string();
        }
        Ok(Prepared::with_balancers(scenario, base, Arc::clone(balancers))?)
    }
}
