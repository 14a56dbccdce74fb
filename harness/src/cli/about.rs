//! What algorithms say of themselves, in words.

use cc_algos::registry::Algorithm;

/// Family, source, signals needed, memory and promises of an algorithm, a line each where there is something to say.
pub(super) fn about(algorithm: &Algorithm) -> String {
    let declaration = algorithm.declaration();
    let mut about = format!("{}; {}", declaration.family.name(), algorithm.source());
    if !declaration.needs.is_empty() {
        let needs: Vec<_> = declaration.needs.iter().map(|need| need.name()).collect();
        about.push_str(&format!("\nneeds {}", needs.join(", ")));
    }
    if let Some(memory) = declaration.bounds.rtt_memory {
        about.push_str(&format!("\nremembers the smallest RTT for {memory}"));
    }
    let promises = declaration.promises.to_string();
    if !promises.is_empty() {
        about.push_str(&format!("\npromises {promises}"));
    }
    about
}
