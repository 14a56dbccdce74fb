//! Whole coded flows by hand: what is sent again, when, and what the controller is told.

use cc_algos::controller::Cause;
use cc_algos::units::{Span, Timestamp};

use super::super::channel::{PATH, Probe, ms};
use super::link::{Link, ONE_WAY};
use crate::flow::code::{Coding, MAX_BLOCKS, Next, Parity};
use crate::flow::tests::channel::plain;
use crate::flow::{LossPolicy, Rto, SenderConfig};

fn coding(data: u8, parity: u8) -> Coding {
    // Longer than any of these flows but where said otherwise.
    Coding::new(data, Parity::Fixed(parity), Span::from_secs(10)).unwrap()
}

#[test]
fn parity_follows_the_data_of_each_block_and_a_short_last_one_has_as_much() {
    let mut link = Link::losing(coding(4, 2), &Probe::with_window(100), 10, &[]);
    link.run_out();
    let places: Vec<_> = link.sent.iter().map(|(place, _)| (place.block.0, place.index, place.k)).collect();
    let block = |id, k| (0..k + 2).map(move |index| (id, index, k));
    assert_eq!(places, Vec::from_iter(block(0, 4).chain(block(1, 4)).chain(block(2, 2))));
    assert!(link.delivered.iter().all(|times| *times == 1));
    assert_eq!(link.delivered_at, Timestamp::ZERO + ONE_WAY);
    assert_eq!((link.nacks.len(), link.blocks.totals().decoded), (0, 0));
}

#[test]
fn two_losses_with_two_parity_shards_need_nothing_again_and_are_told_all_the_same() {
    // Packets 1 and 3 of the first block of eight and two; a second block follows.
    let probe = Probe::with_window(100);
    let mut link = Link::losing(coding(8, 2), &probe, 16, &[1, 3]);
    link.run_out();
    assert_eq!((link.sent_again(), link.blocks.totals().decoded_shards), (0, 2));
    assert_eq!(link.delivered, [1; 16]);
    assert_eq!(link.delivered_at, Timestamp::ZERO + ONE_WAY);
    let told = probe.told();
    let lost: Vec<u64> = told.iter().flat_map(|told| told.lost.clone()).collect();
    let recovered: Vec<u64> = told.iter().flat_map(|told| told.recovered.clone()).collect();
    // Packet 1 is overtaken by the third on the arrival of packet 5, when the block is not complete.
    assert_eq!((lost, recovered), (vec![1, 3], vec![]));
    let blocks = link.sender.blocks().unwrap().totals();
    assert_eq!((blocks.begun, blocks.complete, blocks.repaired), (2, 2, 0));
}

#[test]
fn a_loss_found_after_its_block_is_complete_is_recovered_and_leaves_flight_then() {
    // The first parity packet, of number 8, is lost; the block is complete without it.
    let probe = Probe::with_window(100);
    let mut link = Link::losing(coding(8, 2), &probe, 16, &[8]);
    link.run_out();
    let told = probe.told();
    let batch = told.iter().find(|told| !told.recovered.is_empty()).unwrap();
    // Lost is what three later ones overtook: by packet 11 in its batch, and not when the block was complete.
    assert_eq!((batch.cause, batch.acked.clone(), batch.lost.clone()), (Cause::Ack, vec![11], vec![]));
    assert_eq!(batch.recovered, [8]);
    assert_eq!(batch.prior_in_flight - batch.in_flight, 2 * 1_200);
    assert!(told.iter().all(|told| told.lost.is_empty()));
    assert_eq!(link.sender.stats(PATH).totals.recovered.packets, 1);
}

#[test]
fn three_losses_with_two_parity_shards_are_all_sent_again() {
    let probe = Probe::with_window(100);
    let mut link = Link::losing(coding(8, 2), &probe, 16, &[1, 3, 8]);
    link.run_out();
    let again: Vec<_> = link.sent.iter().skip(20).map(|(place, at)| (place.block.0, place.index, *at)).collect();
    // Known as soon as packet 8 is overtaken for the third time; a repair is as well protected as the block was.
    assert_eq!(again, [1, 3, 8].map(|index| (0, index, ms(100))));
    assert_eq!(link.delivered, [1; 16]);
    assert_eq!(link.sender.blocks().unwrap().totals().repaired, 1);
    assert_eq!(link.delivered_at, ms(150));
}

#[test]
fn a_block_without_parity_is_plain_retransmission() {
    let mut link = Link::losing(coding(8, 0), &Probe::with_window(100), 16, &[2]);
    link.run_out();
    assert_eq!((link.sent_again(), link.sent.len()), (1, 17));
    assert_eq!(link.delivered, [1; 16]);
}

#[test]
fn a_complaint_repairs_what_loss_detection_cannot_see_yet() {
    // The whole tail of the only block is lost, so that nothing overtakes it; the receiver waits 10 ms for it.
    let config = SenderConfig { loss: LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_secs(3)) }, ..plain() };
    let coding = Coding::new(8, Parity::Fixed(2), Span::from_millis(10)).unwrap();
    let fate = |number| if (5..10).contains(&number) { vec![] } else { vec![Span::ZERO] };
    let probe = Probe::with_window(100);
    let mut link = Link::with_config(&config, coding, &probe, 8, Box::new(fate));
    link.run_out();
    let [(at, nack)] = link.nacks[..] else { panic!("{:?}", link.nacks) };
    assert_eq!((at, Vec::from_iter(nack.missing.iter())), (ms(60), vec![5, 6, 7, 8, 9]));
    let told = probe.told().into_iter().find(|told| !told.lost.is_empty()).unwrap();
    assert_eq!((told.now, told.cause, told.lost), (ms(110), Cause::BlockNack, vec![5, 6, 7, 8, 9]));
    assert_eq!((link.delivered_at, link.sent_again()), (ms(160), 5));
    assert_eq!(link.delivered, [1; 8]);
}

#[test]
fn a_complaint_about_what_is_still_under_way_changes_nothing() {
    // Five packets fit into the window, so that a block takes two round trips and the receiver grows impatient.
    let coding = Coding::new(8, Parity::Fixed(2), Span::from_millis(20)).unwrap();
    let probe = Probe::with_window(5);
    let mut link = Link::losing(coding, &probe, 8, &[]);
    link.run_out();
    assert!(!link.nacks.is_empty());
    assert_eq!(link.sent_again(), 0);
    assert!(probe.told().iter().all(|told| told.lost.is_empty() && told.cause == Cause::Ack));
}

#[test]
fn parity_of_a_block_that_is_complete_is_not_sent_any_more() {
    // The window is a block's data: when its parity may leave, the data is acknowledged.
    let mut link = Link::losing(coding(4, 2), &Probe::with_window(4), 8, &[]);
    link.run_out();
    assert!(link.sent.iter().all(|(place, _)| !place.is_parity()), "{:?}", link.sent);
    assert_eq!(link.delivered, [1; 8]);
}

#[test]
fn a_sender_waits_for_an_old_block_before_it_runs_too_far_ahead() {
    // Blocks of one packet. The first never arrives until the others have.
    let fate = |number| if number == 0 { vec![] } else { vec![Span::ZERO] };
    let config = SenderConfig { loss: LossPolicy::PerPacketRto { rto: Rto::Fixed(Span::from_secs(3)) }, ..plain() };
    let probe = Probe::with_window(2_000);
    let mut link = Link::with_config(&config, coding(1, 0), &probe, 6_000, Box::new(fate));
    link.run_until(ms(2_999));
    assert_eq!(link.sent.len(), MAX_BLOCKS);
    assert_eq!(link.sender.blocks_mut().unwrap().next(1), Next::Blocked);
    link.run_out();
    assert_eq!(link.delivered, vec![1; 6_000]);
}
