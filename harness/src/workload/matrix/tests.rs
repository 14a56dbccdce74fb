use proptest::prelude::*;

use super::*;

const CHAIN: &str = "\
# a request, its answer, and what follows both
Nodes 16
Connections 4
Triggers 2
Failures 1
0->9 id 1 start 12.5 size 100000 recv_done_trigger 7 send_done_trigger 8
9->0 id 2 trigger 7 size 5000 prio 3 send_done_trigger 8
3->4 id 3 trigger 8 size 1
4->3 id 4 trigger 8 size 2
trigger id 7 oneshot
trigger id 8 barrier count 2
failure switch_type CORE switch_id 3 link_id 1
";

#[test]
fn connections_triggers_and_failures_are_read() {
    let matrix = Matrix::parse(CHAIN).unwrap();
    assert_eq!(matrix.nodes, 16);
    let first = &matrix.connections[0];
    assert_eq!((first.id, first.source, first.destination, first.size), (Some(1), 0, 9, 100_000));
    assert_eq!(first.start, Some(Span::from_nanos(12_500)));
    assert_eq!(matrix.connections[1].start, None);
    let kinds: Vec<_> = matrix.triggers.iter().map(|trigger| trigger.kind).collect();
    assert_eq!(kinds, [TriggerKind::All { after: 1 }, TriggerKind::All { after: 2 }]);
    assert_eq!(matrix.triggers[0].causes, [(0, FlowEnd::Received)]);
    assert_eq!(matrix.triggers[1].causes, [(0, FlowEnd::Completed), (1, FlowEnd::Completed)]);
    assert_eq!(matrix.triggers[1].starts, [2, 3]);
    assert_eq!(matrix.failures, [Failure { line: 12, tier: 2, switch: 3, link: 1 }]);
}

#[test]
fn a_chain_may_start_the_next_connection_by_each_one_s_end() {
    let text = "Nodes 4\nConnections 3\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 5\n\
                0->1 trigger 5 size 1 send_done_trigger 5\n0->1 trigger 5 size 1\ntrigger id 5 multishot\n";
    assert_eq!(Matrix::parse(text).unwrap().triggers[0].kind, TriggerKind::Next);
}

#[test]
fn hosts_beyond_the_network_are_named_with_their_line() {
    let matrix = Matrix::parse(CHAIN).unwrap();
    assert!(matrix.check_hosts(10).is_ok());
    assert_eq!(matrix.check_hosts(9).unwrap_err().to_string(), "line 6: host 9 does not exist: there are 9, from 0");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases = [
        ("Nodes 16\n", "", "no `Nodes`: expected it with a count before the connections"),
        ("Nodes 16", "Nodes 0", "line 2: `Nodes`: expected a number above 0, found 0"),
        ("Connections 4\n", "", "no `Connections`: expected it with a count before the connections"),
        ("Connections 4", "Connections 5", "line 3: `Connections` says 5, but there are 4"),
        ("Triggers 2\n", "", "`Triggers` says 0, but there are 2"),
        ("Connections 4", "Connection 4", "line 3: unknown line `Connection`: did you mean `Connections`?"),
        ("size 100000", "size -5", "line 6: `size`: expected a whole number, found -5"),
        ("size 100000", "size 0", "line 6: `size`: expected 1 to 2305843009213693952 bytes, found 0"),
        ("size 100000 ", "", "line 6: no `size`"),
        ("start 12.5", "start -1", "line 6: `start`: expected microseconds from 0, at most thirty days, found -1"),
        ("start 12.5", "start 1e3", "line 6: `start`: expected microseconds from 0, at most thirty days, found 1e3"),
        ("start 12.5 ", "", "line 6: neither `start` nor `trigger`"),
        ("id 2 trigger 7", "id 2 trigger 7 start 0", "line 7: both `start` and `trigger`"),
        ("0->9 id 1", "0->0 id 1", "line 6: host 0 sends to itself: expected another destination"),
        ("0->9 id 1", "a->9 id 1", "line 6: expected `HOST->HOST` with whole numbers, found a->9"),
        ("id 2", "id 1", "line 7: id 1 is that of line 6 already"),
        ("id 2", "id 0", "line 7: `id`: expected a number above 0, found 0"),
        ("prio 3", "priority 3", "line 7: unknown word `priority`: expected one of id, start, size, trigger, "),
        ("trigger id 7", "trigger id 9", "line 6: trigger 7 does not exist: expected a line `trigger id 7 ...`"),
        ("trigger id 8", "trigger id 7", "line 11: trigger 7 stands in line 10 already"),
        ("oneshot", "oneshoot", "line 10: unknown word `oneshoot`: did you mean `oneshot`?"),
        ("barrier count 2", "barrier", "line 11: a barrier needs a `count` above 0"),
        (
            "barrier count 2",
            "barrier count 3",
            "line 11: trigger 8 is set off by 2 connections: expected 3, as a barrier needs",
        ),
        (
            " recv_done_trigger 7",
            "",
            "line 10: trigger 7 is set off by 0 connections: expected 1, as a oneshot trigger needs",
        ),
        (
            "switch_type CORE",
            "switch_type SPINE",
            "line 12: unknown switch_type `SPINE`: expected one of TOR, AGG, CORE",
        ),
        ("switch_id 3 ", "", "line 12: a failure without `switch_id`"),
    ];
    for (from, to, expected) in cases {
        let text = CHAIN.replacen(from, to, 1);
        assert_ne!(text, CHAIN, "{from}");
        let message = Matrix::parse(&text).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{from} -> {to}: {message}");
    }
}

#[test]
fn circles_of_triggers_are_refused() {
    let text = "Nodes 4\nConnections 3\nTriggers 2\n0->1 start 0 size 1\n1->2 trigger 5 size 1 recv_done_trigger 6\n\
                2->1 trigger 6 size 1 recv_done_trigger 5\ntrigger id 5 oneshot\ntrigger id 6 oneshot\n";
    let message = Matrix::parse(text).unwrap_err().to_string();
    assert!(
        message.starts_with("line 5: 1->2 never starts: its trigger waits, perhaps by way of others,"),
        "{message}"
    );
}

proptest! {
    /// Whatever stands in a file, it is read or refused.
    #[test]
    fn no_file_makes_it_panic(words in proptest::collection::vec((0_usize..80, any::<bool>()), 0..80)) {
        let all: Vec<&str> = CHAIN.split_whitespace().collect();
        let text: String = words
            .iter()
            .flat_map(|(at, ends)| [all[at % all.len()], if *ends { "\n" } else { " " }])
            .collect();
        let _ = Matrix::parse(&text);
    }
}
