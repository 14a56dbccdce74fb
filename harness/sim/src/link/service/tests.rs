use proptest::prelude::*;

use super::*;

fn at(picos: u64) -> SimTime {
    SimTime::from_picos(picos)
}

fn millis(millis: u64) -> SimTime {
    SimTime::ZERO + Span::from_millis(millis)
}

/// Serves packets back to back from time zero; returns the last finish.
fn saturate(server: &mut Server, packets: u64, bytes: u32) -> SimTime {
    (0..packets).map(|_| server.serve(SimTime::ZERO, bytes).unwrap()).last().unwrap()
}

fn segments(list: &[(u64, u64)], end: End) -> ServiceSpec {
    let list = list.iter().map(|&(ms, bps)| Segment { span: Span::from_millis(ms), rate: Rate::from_bps(bps) });
    ServiceSpec::Segments(Segments::new(list, end).unwrap())
}

fn mahimahi(millis: &[u64], end: End) -> ServiceSpec {
    let list = millis.iter().map(|&ms| Opportunity { at: Span::from_millis(ms), bytes: 1_504 });
    let period = Span::from_millis(*millis.last().unwrap());
    ServiceSpec::Opportunities(Opportunities::new(list, period, end).unwrap())
}

#[test]
fn a_header_at_800_gbps_takes_640_picoseconds() {
    let mut server = Server::new(&ServiceSpec::Fixed(Rate::from_gbps(800)));
    assert_eq!(server.serve(at(1_000), 64), Some(at(1_640)));
}

#[test]
fn the_delivered_rate_is_the_rate_of_the_link() {
    // n packets of b bytes take exactly n b 8e12 / R picoseconds, rounded up once and not n times.
    for bps in [1_000_000, 12_345_678, 99_999_989, 10_000_000_000, 100_000_000_000, 400_000_000_000, 3] {
        let general = ServiceSpec::Fixed(Rate::from_bps(bps)).with_changes([(Span::ZERO, Change::Restore)]).unwrap();
        for spec in [ServiceSpec::Fixed(Rate::from_bps(bps)), segments(&[(7, bps)], End::Repeat), general] {
            let packets = if bps < 100 { 100 } else { 100_000 };
            let bits = u128::from(packets) * 1_501 * 8;
            let expected = (bits * 1_000_000_000_000).div_ceil(u128::from(bps));
            let end = saturate(&mut Server::new(&spec), packets, 1_501);
            assert_eq!(u128::from(end.as_picos()), expected, "{bps} b/s by {spec:?}");
        }
    }
}

#[test]
fn waiting_for_each_departure_loses_nothing() {
    let spec = ServiceSpec::Fixed(Rate::from_bps(12_345_678));
    let mut server = Server::new(&spec);
    let mut now = SimTime::ZERO;
    for _ in 0..1_000 {
        now = server.serve(now, 1_500).unwrap();
    }
    assert_eq!(now, saturate(&mut Server::new(&spec), 1_000, 1_500));
}

#[test]
fn an_idle_link_starts_when_the_packet_is_there() {
    for spec in [ServiceSpec::Fixed(Rate::from_mbps(8)), segments(&[(1, 8_000_000)], End::Hold)] {
        let mut server = Server::new(&spec);
        // 1 000 B at 8 Mb/s: 1 ms.
        assert_eq!(server.serve(millis(5), 1_000), Some(millis(6)));
        assert_eq!(server.serve(millis(5), 1_000), Some(millis(7)));
        assert_eq!(server.serve(millis(9), 1_000), Some(millis(10)));
    }
}

#[test]
fn a_packet_crosses_segments_and_waits_in_pauses() {
    // 1 ms at 8 Mb/s carry 1 000 B; then 2 ms of pause; then 1 ms at 4 Mb/s carry 500 B.
    let spec = segments(&[(1, 8_000_000), (2, 0), (1, 4_000_000)], End::Repeat);
    let mut server = Server::new(&spec);
    // 1 250 B: all of the first and half of the last segment.
    assert_eq!(server.serve(SimTime::ZERO, 1_250), Some(at(3_500_000_000)));
    // Ready in the pause: 250 B at 4 Mb/s until 4 ms, then 750 B at 8 Mb/s.
    assert_eq!(Server::new(&spec).serve(millis(2), 1_250), Some(at(4_750_000_000)));
    // Many passes of 1 500 B in 4 ms each, and one byte: exactly at the start of the pass that follows.
    assert_eq!(Server::new(&spec).serve(SimTime::ZERO, 1_500_001), Some(at(4_000_001_000_000)));
    assert_eq!(Server::new(&spec).serve(SimTime::ZERO, 1_500_000), Some(at(4_000_000_000_000)));
    assert_eq!(spec.rate_at(millis(5)), Rate::ZERO);
    assert_eq!(spec.rate_at(millis(7)), Rate::from_mbps(4));
}

#[test]
fn work_done_before_a_trailing_pause_is_done_before_it() {
    let spec = segments(&[(1, 8_000_000), (9, 0)], End::Repeat);
    assert_eq!(Server::new(&spec).serve(SimTime::ZERO, 5_000), Some(millis(41)));
}

#[test]
fn the_end_of_a_series_repeats_holds_or_stops() {
    let list = [(1, 16_000_000), (1, 8_000_000)];
    let third_kilobyte = |end| {
        let mut server = Server::new(&segments(&list, end));
        server.serve(SimTime::ZERO, 3_000).unwrap();
        server.serve(SimTime::ZERO, 1_000)
    };
    assert_eq!(third_kilobyte(End::Repeat), Some(at(2_500_000_000)));
    assert_eq!(third_kilobyte(End::Hold), Some(millis(3)));
    assert_eq!(third_kilobyte(End::Stop), None);
    assert_eq!(segments(&list, End::Stop).offered(SimTime::ZERO, millis(100)), 3_000);
    assert_eq!(segments(&list, End::Hold).offered(millis(1), millis(100)), 99_000);
}

#[test]
fn an_opportunity_at_the_instant_of_arrival_has_gone() {
    let spec = mahimahi(&[1, 1, 5, 6], End::Repeat);
    // At 5 ms departures come before arrivals.
    assert_eq!(Server::new(&spec).serve(millis(5), 1_504), Some(millis(6)));
    assert_eq!(Server::new(&spec).serve(at(4_999_999_999), 1_504), Some(millis(5)));
    // Two opportunities of one instant carry two packets; the next pass begins 6 ms later.
    let mut server = Server::new(&spec);
    let departures: Vec<_> = (0..6).map(|_| server.serve(SimTime::ZERO, 1_504).unwrap()).collect();
    assert_eq!(departures, [1, 1, 5, 6, 7, 7].map(millis));
}

#[test]
fn a_partly_delivered_packet_continues_and_the_rest_of_an_opportunity_serves_only_those_waiting() {
    let spec = mahimahi(&[1, 2, 3], End::Repeat);
    let mut server = Server::new(&spec);
    // 2 000 B: 1 504 at 1 ms, 496 at 2 ms, which leaves 1 008.
    assert_eq!(server.serve(SimTime::ZERO, 2_000), Some(millis(2)));
    // Waiting at 2 ms: served by the rest. Coming at 2 ms: not.
    assert_eq!(server.serve(at(1_999_999_999), 1_000), Some(millis(2)));
    assert_eq!(server.serve(millis(2), 8), Some(millis(3)));
    // An opportunity that nobody waited for is lost: 4, 5 and 6 ms pass, 7 ms serves.
    assert_eq!(server.serve(millis(6), 1_504), Some(millis(7)));
    // Far later, in the middle of a pass of 3 ms.
    assert_eq!(server.serve(millis(30_001), 1), Some(millis(30_002)));
}

#[test]
fn a_series_of_opportunities_may_stop() {
    let mut server = Server::new(&mahimahi(&[1, 2], End::Stop));
    assert_eq!(server.serve(SimTime::ZERO, 3_008), Some(millis(2)));
    assert_eq!(server.serve(SimTime::ZERO, 1), None);
    assert_eq!(server.offered(SimTime::ZERO, millis(1_000)), 3_008);
}

#[test]
fn an_opportunity_at_time_zero_is_the_end_of_the_pass_before() {
    let spec = mahimahi(&[0, 2], End::Repeat);
    let mut server = Server::new(&spec);
    let departures: Vec<_> = (0..4).map(|_| server.serve(SimTime::ZERO, 1_504).unwrap()).collect();
    assert_eq!(departures, [2, 2, 4, 4].map(millis));
    assert_eq!(spec.offered(SimTime::ZERO, millis(4)), 4 * 1_504);
}

#[test]
fn opportunities_offer_what_lies_after_the_first_and_until_the_second_time() {
    let spec = mahimahi(&[1, 1, 5, 6], End::Repeat);
    assert_eq!(spec.offered(millis(1), millis(5)), 1_504);
    // After 5 and until 13 ms: 6, 7, 7, 11, 12, 13 and 13 ms.
    assert_eq!(spec.offered(millis(5), millis(13)), 7 * 1_504);
    // 2 x 1 504 B in the millisecond before 7 ms (netem-trace reads the same file as 24 Mb/s there, of 1 500 B).
    assert_eq!(spec.rate_at(millis(7)), Rate::from_bps(24_064_000));
    assert_eq!(spec.rate_at(millis(3)), Rate::from_bps(3_008_000));
}

#[test]
fn a_link_that_goes_down_pauses_the_packet_in_service() {
    let changes = [
        (Span::from_millis(1), Change::Down),
        (Span::from_millis(4), Change::Rate(Rate::from_mbps(4))),
        (Span::from_millis(6), Change::Restore),
    ];
    let spec = ServiceSpec::fixed(Rate::from_mbps(8)).unwrap().with_changes(changes).unwrap();
    let mut server = Server::new(&spec);
    // 1 000 B until 1 ms, then 500 B at 4 Mb/s from 4 ms on.
    assert_eq!(server.serve(SimTime::ZERO, 1_500), Some(millis(5)));
    // 500 B until 6 ms, then 1 000 B at 8 Mb/s.
    assert_eq!(server.serve(SimTime::ZERO, 1_500), Some(millis(7)));
    assert_eq!(spec.offered(SimTime::ZERO, millis(7)), 3_000);
    assert_eq!([0, 2, 4, 6].map(|ms| spec.rate_at(millis(ms)).as_bps()), [8_000_000, 0, 4_000_000, 8_000_000]);
}

#[test]
fn a_link_that_stays_down_serves_never() {
    let down = [(Span::from_millis(1), Change::Down)];
    for base in [ServiceSpec::Fixed(Rate::from_mbps(8)), mahimahi(&[1], End::Repeat)] {
        let mut server = Server::new(&base.with_changes(down).unwrap());
        assert_eq!(server.serve(SimTime::ZERO, 1_000), Some(millis(1)));
        assert_eq!(server.serve(SimTime::ZERO, 1_000), None);
        assert_eq!(server.serve(millis(50), 1), None);
    }
    assert_eq!(Server::new(&ServiceSpec::Fixed(Rate::ZERO)).serve(SimTime::ZERO, 1), None);
}

#[test]
fn opportunities_during_an_outage_are_lost_and_the_trace_goes_on() {
    let changes = [(Span::from_millis(2), Change::Down), (Span::from_millis(4), Change::Restore)];
    let mut server = Server::new(&mahimahi(&[1, 2, 3, 4, 5], End::Repeat).with_changes(changes).unwrap());
    let departures: Vec<_> = (0..4).map(|_| server.serve(SimTime::ZERO, 1_504).unwrap()).collect();
    assert_eq!(departures, [1, 2, 5, 6].map(millis));
}

#[test]
fn extremes_never_panic_and_never_come_back() {
    for rate in [Rate::from_bps(1), Rate::MAX] {
        for spec in [ServiceSpec::Fixed(rate), segments(&[(1, rate.as_bps())], End::Repeat)] {
            let mut server = Server::new(&spec);
            server.serve(SimTime::ZERO, u32::MAX);
            server.serve(at(u64::MAX - 1), 0);
            assert_eq!(server.serve(SimTime::MAX, u32::MAX), None);
            assert_eq!(server.serve(SimTime::ZERO, 1_500), None);
            assert!(spec.offered(SimTime::ZERO, SimTime::MAX) > 0);
        }
    }
    // One byte per nanosecond-long pass of a thousand: 4 GB are not walked pass by pass.
    let one = [Opportunity { at: Span::from_nanos(1), bytes: 1 }];
    let slow = ServiceSpec::Opportunities(Opportunities::new(one, Span::from_nanos(1_000), End::Repeat).unwrap());
    let expected = (u64::from(u32::MAX) - 1) * 1_000_000 + 1_000;
    assert_eq!(Server::new(&slow).serve(SimTime::ZERO, u32::MAX), Some(at(expected)));
}

#[test]
fn nonsense_is_refused_with_the_rule_it_breaks() {
    let segment = |ms, bps| Segment { span: Span::from_millis(ms), rate: Rate::from_bps(bps) };
    let message = |list: &[Segment]| Segments::new(list.to_vec(), End::Repeat).unwrap_err().to_string();
    assert_eq!(message(&[]), "rate segments is empty, expected at least one segment");
    assert_eq!(
        message(&[segment(1, 1), segment(0, 1)]),
        "rate segments, entry 1 (counted from 0): expected a span above zero"
    );
    assert_eq!(message(&[segment(1, 0)]), "highest rate of all segments is zero, expected one above zero");
    let chance = |at: u64, bytes| Opportunity { at: Span::from_millis(at), bytes };
    let message = |list: &[Opportunity], period| {
        Opportunities::new(list.to_vec(), Span::from_millis(period), End::Stop).unwrap_err().to_string()
    };
    assert!(message(&[], 1).contains("empty"));
    assert!(message(&[chance(0, 9)], 1).contains("after time zero"));
    assert!(
        message(&[chance(2, 1), chance(1, 1)], 2)
            .contains("entry 1 (counted from 0): expected times that never go back")
    );
    assert!(message(&[chance(3, 1)], 2).contains("within the period"));
    assert!(message(&[chance(1, u64::MAX), chance(1, 1)], 2).contains("2^64"));
    assert!(message(&[chance(0, 1)], 0).contains("period is 0ns"));
    assert!(ServiceSpec::fixed(Rate::ZERO).is_err());
    let back = [(Span::from_millis(2), Change::Down), (Span::from_millis(1), Change::Restore)];
    assert!(ServiceSpec::Fixed(Rate::MAX).with_changes(back).is_err());
}

fn any_spec() -> impl Strategy<Value = ServiceSpec> {
    let end = prop_oneof![Just(End::Repeat), Just(End::Hold), Just(End::Stop)];
    let rate = prop_oneof![Just(0), 1_000_u64..1_000_000, 1_000_000_u64..400_000_000_000];
    let steps = prop::collection::vec((1_u64..2_000_000, rate.clone()), 1..6);
    let segments = (steps, end.clone()).prop_filter_map("all zero", |(steps, end)| {
        let steps =
            steps.into_iter().map(|(ns, bps)| Segment { span: Span::from_nanos(ns), rate: Rate::from_bps(bps) });
        Segments::new(steps, end).ok().map(ServiceSpec::Segments)
    });
    let gaps = prop::collection::vec((0_u64..2_000_000, 0_u64..4_000), 1..8);
    let opportunities = (gaps, 1_u64..1_000_000, end).prop_filter_map("no bytes", |(gaps, tail, end)| {
        let mut at = 0;
        let list: Vec<_> = gaps
            .into_iter()
            .map(|(gap, bytes)| {
                at += gap;
                Opportunity { at: Span::from_nanos(at), bytes }
            })
            .collect();
        Opportunities::new(list, Span::from_nanos(at + tail), end).ok().map(ServiceSpec::Opportunities)
    });
    let base = prop_oneof![
        (1_u64..400_000_000_000).prop_map(|bps| ServiceSpec::Fixed(Rate::from_bps(bps))),
        segments,
        opportunities
    ];
    let change =
        prop_oneof![Just(Change::Down), Just(Change::Restore), rate.prop_map(|bps| Change::Rate(Rate::from_bps(bps)))];
    let changes = prop::collection::vec((0_u64..5_000_000, change), 0..5);
    (base, changes).prop_map(|(base, mut changes)| {
        changes.sort_by_key(|change| change.0);
        let changes = changes.into_iter().map(|(ns, change)| (Span::from_nanos(ns), change));
        base.clone().with_changes(changes).unwrap_or(base)
    })
}

proptest! {
    #[test]
    fn departures_are_in_order_after_arrivals_and_never_more_than_offered(
        spec in any_spec(),
        packets in prop::collection::vec((0_u64..3_000_000_000, 1_u32..9_000), 1..60),
    ) {
        let mut server = Server::new(&spec);
        let (mut ready, mut last, mut total) = (SimTime::ZERO, SimTime::ZERO, 0_u64);
        for (gap, bytes) in packets {
            ready = ready.plus_picos(if gap % 3 == 0 { 0 } else { gap });
            let Some(departure) = server.serve(ready, bytes) else { break };
            prop_assert!(departure >= last && departure >= ready);
            total += u64::from(bytes);
            prop_assert!(total <= spec.offered(SimTime::ZERO, departure), "{total} by {departure:?}");
            last = departure;
        }
    }

    #[test]
    fn a_saturated_link_uses_all_that_it_offers_but_the_packet_under_way(
        spec in any_spec(),
        bytes in 1_u32..3_000,
    ) {
        let mut server = Server::new(&spec);
        let departures: Vec<_> = (0..200).map_while(|_| server.serve(SimTime::ZERO, bytes)).collect();
        for (index, pair) in departures.windows(2).enumerate() {
            // Until just before the next departure, one packet and what changes of regime round are missing at most.
            let before = at(pair[1].as_picos().saturating_sub(1));
            let offered = spec.offered(SimTime::ZERO, before);
            let sent = (index as u64 + 1) * u64::from(bytes);
            prop_assert!(offered <= sent + u64::from(bytes) + 4_000 * 5, "{offered} offered, {sent} sent");
        }
    }

    #[test]
    fn offers_of_adjacent_windows_add_up(spec in any_spec(), a in 0_u64..9_000_000_000, b in 0_u64..9_000_000_000) {
        let sum = spec.offered(SimTime::ZERO, at(a)) + spec.offered(at(a), at(a + b));
        prop_assert_eq!(sum, spec.offered(SimTime::ZERO, at(a + b)));
    }
}
