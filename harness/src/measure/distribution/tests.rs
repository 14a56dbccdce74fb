use proptest::prelude::*;

use super::*;

fn of(observed: impl IntoIterator<Item = u64>, censored: impl IntoIterator<Item = u64>) -> Distribution {
    let mut all = Distribution::default();
    observed.into_iter().for_each(|value| all.observe(value));
    censored.into_iter().for_each(|bound| all.censor(bound));
    all
}

#[test]
fn a_percentile_needs_ten_samples_beyond_it() {
    // 10 / (1 - q)
    let cases = [(Percentile::P50, 20), (Percentile::P90, 100), (Percentile::P99, 1_000), (Percentile::P99_9, 10_000)];
    for (percentile, needed) in cases {
        assert_eq!(percentile.samples_needed(), needed);
        assert_eq!(of(1..needed, []).percentile(percentile), None);
        assert!(of(0..needed, []).percentile(percentile).is_some());
    }
}

#[test]
fn percentiles_are_order_statistics() {
    // Values below 2048 are exact with three digits. Rank ceil(0.99 * 1000) = 990 holds the value 990.
    let all = of(1..=1_000, []);
    assert_eq!(all.percentile(Percentile::P50), Some(Reading::Exactly(500)));
    assert_eq!(all.percentile(Percentile::P99), Some(Reading::Exactly(990)));
    assert_eq!(all.max(), Some(Reading::Exactly(1_000)));
    assert_eq!(Distribution::default().max(), None);
}

#[test]
fn a_percentile_among_unfinished_flows_is_a_lower_bound() {
    // 80 finished after 1..=80, 20 cut off after 200: the 80th value is known, the 81st is not.
    let all = of(1..=80, [200; 20]);
    assert_eq!(all.percentile(Percentile::from_milli_percent(80_000).unwrap()), Some(Reading::Exactly(80)));
    assert_eq!(all.percentile(Percentile::from_milli_percent(81_000).unwrap()), Some(Reading::MoreThan(200)));
    assert_eq!(all.percentile(Percentile::P90), Some(Reading::MoreThan(200)));
    assert_eq!(all.max(), Some(Reading::MoreThan(200)));
}

#[test]
fn flows_cut_off_early_still_count_as_the_slowest() {
    // Ten flows cut off after 5, before the 90 others needed 100: the tail stays unknown, and what is certain of
    // the 95th value is only what the union of values and bounds says.
    let all = of([100; 90], [5; 10]);
    assert_eq!(all.percentile(Percentile::P90), Some(Reading::Exactly(100)));
    assert_eq!(all.percentile(Percentile::from_milli_percent(90_001).unwrap()), None, "needs 101 samples");
    let all = of([100; 180], [5; 20]);
    assert_eq!(all.percentile(Percentile::from_milli_percent(95_000).unwrap()), Some(Reading::MoreThan(100)));
}

#[test]
fn values_at_the_ends_of_the_range_are_kept() {
    let all = of([0, u64::MAX], []);
    assert_eq!(all.count(), 2);
    assert!(all.max().unwrap().raw() > u64::MAX / 1_001 * 1_000);
}

#[test]
fn damaged_histograms_are_refused_without_allocating_what_they_claim() {
    let good = encode(of([1, 2, 3], []).observed()).unwrap();
    assert!(decode(&good).is_ok());
    assert!(matches!(decode("%%%"), Err(DecodeError::Base64(_))));
    assert!(matches!(decode(""), Err(DecodeError::Truncated)));
    assert!(matches!(decode(&good[..good.len() - 8]), Err(DecodeError::Truncated)));
    let mut bytes = BASE64.decode(&good).unwrap();
    bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(decode(&BASE64.encode(&bytes)), Err(DecodeError::Truncated)));
    let mut bytes = BASE64.decode(&good).unwrap();
    bytes[0] ^= 0xff;
    assert!(matches!(decode(&BASE64.encode(&bytes)), Err(DecodeError::Histogram(_))));
    let mut coarse = Vec::new();
    V2Serializer::new().serialize(&Histogram::<u64>::new(2).unwrap(), &mut coarse).unwrap();
    assert!(matches!(decode(&BASE64.encode(&coarse)), Err(DecodeError::Precision(2))));
}

proptest! {
    #[test]
    fn storing_keeps_every_bucket(
        observed in prop::collection::vec(any::<u64>(), 0..50),
        censored in prop::collection::vec(0_u64..1 << 40, 0..10),
    ) {
        let all = of(observed, censored);
        let text = serde_json::to_string(&all).unwrap();
        let back: Distribution = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back, &all);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn decoding_arbitrary_text_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = decode(&BASE64.encode(bytes));
    }

    #[test]
    fn weighted_unions_agree_with_merged_histograms(
        parts in prop::collection::vec(
            (prop::collection::vec(0_u64..1 << 30, 0..20), prop::collection::vec(0_u64..1 << 30, 0..5)), 1..5),
        weights in prop::collection::vec(0_u32..4, 5),
        milli_percent in 0_u32..100_000,
    ) {
        let parts: Vec<Distribution> = parts.into_iter().map(|(seen, cut)| of(seen, cut)).collect();
        let ranked = Ranked::of(&parts.iter().collect::<Vec<_>>());
        let mut merged = Distribution::default();
        for (part, weight) in parts.iter().zip(&weights) {
            (0..*weight).for_each(|_| merged.merge(part));
        }
        let weights = &weights[..parts.len()];
        let percentile = Percentile::from_milli_percent(milli_percent).unwrap();
        prop_assert_eq!(ranked.count(weights), merged.count());
        prop_assert_eq!(ranked.max(weights), merged.max());
        if merged.count() >= percentile.samples_needed() {
            prop_assert_eq!(ranked.percentile(percentile, weights), merged.percentile(percentile));
        }
    }
}
