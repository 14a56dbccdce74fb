use super::*;
use crate::measure::{RunRecord, Table, TableOptions, testing};

fn page(title: &str, description: &str) -> Page {
    Page {
        title: title.into(),
        version: "0.1.0".into(),
        algorithms: vec![("dctcp".into(), "datacentre; RFC 8257\nneeds ECN\npromises utilisation < 1".into())],
        configuration: vec![("suite".into(), "quick".into()), ("seeds".into(), "1 to 10".into())],
        scenarios: vec![ScenarioNote {
            name: "lte".into(),
            description: description.into(),
            definition: "[link]\nrate = \"10Mbps\"".into(),
        }],
    }
}

fn records(scenarios: &[&str], seeds: u64) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for scenario in scenarios {
        for (algorithm, slow) in [("newreno", 110), ("cubic?beta=0.5&x=<1>", 100), ("dctcp", 70)] {
            records.extend((1..=seeds).map(|seed| testing::run_scaled(scenario, algorithm, seed, slow)));
        }
    }
    records
}

fn html(page: &Page, records: &[RunRecord]) -> String {
    let options = TableOptions { baseline: Some("newreno".into()), ..TableOptions::default() };
    to_html(page, &Table::build(records, &options).unwrap(), records)
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let evil = "</title><script>alert('1')</script>\" onload=\"x";
    let text = html(&page(evil, evil), &records(&["lte", evil], 2));
    assert!(!text.contains("<script>alert") && !text.contains("\" onload=\""));
    assert_eq!(text.matches("<script>").count(), 1, "only the page's own script");
    assert!(text.contains("cubic?beta=0.5&amp;x=&lt;1&gt;"));
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    let text = html(&page("t", "d"), &records(&["lte"], 6));
    for request in ["http:", "https:", "//", "url(", "@import", "src=", "<link", "<iframe", "fetch(", "XMLHttp"] {
        assert!(!text.contains(request), "{request}");
    }
}

#[test]
fn every_element_is_closed() {
    let text = html(&page("t", "d"), &records(&["lte", "wan"], 6));
    for element in ["table", "tr", "td", "th", "svg", "g", "details", "figure", "section", "div", "main", "small"] {
        let opened = text.matches(&format!("<{element}>")).count() + text.matches(&format!("<{element} ")).count();
        assert_eq!(opened, text.matches(&format!("</{element}>")).count(), "{element}");
        assert!(opened > 0, "{element}");
    }
}

#[test]
fn the_page_shows_winners_verdicts_and_definitions() {
    let text = html(&page("t", "An LTE downlink."), &records(&["lte"], 8));
    for expected in
        ["★", "▲", "An LTE downlink.", "No handshake is counted", "rate = &quot;10Mbps&quot;", "delivery rate"]
    {
        assert!(text.contains(expected), "{expected}");
    }
}

#[test]
fn a_suite_stays_below_three_megabytes() {
    let names: Vec<String> = (0..8).map(|index| format!("scenario-{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let three_algorithms = html(&page("t", "d"), &records(&names, 2)).len();
    assert!(three_algorithms * 2 < 3_000_000, "{three_algorithms}");
}

#[test]
fn the_same_results_give_the_same_page() {
    let records = records(&["lte"], 6);
    assert_eq!(html(&page("t", "d"), &records), html(&page("t", "d"), &records));
}

#[test]
fn no_results_are_a_page_too() {
    let text = to_html(&page("t", "d"), &Table::default(), &[]);
    assert!(text.ends_with("</html>\n"));
}

#[test]
fn the_page_says_what_algorithms_declare() {
    let page = html(&page("quick", "a link"), &records(&["lte"], 1));
    assert!(
        page.contains("<th>dctcp</th><td>datacentre; RFC 8257<br>needs ECN<br>promises utilisation &lt; 1</td>"),
        "{page}"
    );
}
