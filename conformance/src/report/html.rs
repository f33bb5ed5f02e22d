//! The report as one self-contained page: the verdict, the scenario, every requirement, and the frames as sequence diagrams.

mod diagram;

use std::fmt::Display;

use super::{Report, subject_of};
use crate::say::line;
use crate::scenario::Row;
use crate::wire::requirement::Side;
use crate::wire::run::Outcome;
use crate::wire::verdict::{BINDING, Verdict};

/// What a reader looks for first stands first.
const VERDICTS: [Verdict; 4] = [Verdict::Failed, Verdict::Inconclusive, Verdict::Skipped, Verdict::Passed];

/// The whole page.
pub(crate) fn render(report: &Report) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    line!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    line!(page, "<title>{} · Accord conformance</title>", escaped(&report.name));
    line!(page, "<style>\n{}</style>", include_str!("html/page.css"));
    head(&mut page, report);
    line!(page, "<main>");
    reasons(&mut page, report);
    if !report.rows.is_empty() {
        scenario(&mut page, report);
    }
    if !report.outcomes.is_empty() {
        results(&mut page, report);
    }
    line!(page, "</main>");
    line!(
        page,
        "<footer>Written by accord-conformance {} in {:.1} s.</footer>",
        env!("CARGO_PKG_VERSION"),
        report.took.as_secs_f64()
    );
    line!(page, "<script>\n{}</script>\n</html>", include_str!("html/page.js"));
    page
}

fn head(page: &mut String, report: &Report) {
    let class = if report.objections().is_empty() { "holds" } else { "broken" };
    let side = if report.side == Side::Client { "Client" } else { "Agent" };
    line!(page, "<header>\n<h1>{}</h1>", escaped(&report.name));
    line!(page, "<div class=\"soft\">{side} · <code>{}</code></div>", escaped(&report.command.join(" ")));
    line!(page, "<div class=\"verdict {class}\">{}</div>", escaped(&capital(&report.verdict())));
    if !report.outcomes.is_empty() {
        line!(page, "<div class=\"bar\">");
        for verdict in VERDICTS.iter().rev() {
            let count = report.count(*verdict);
            line!(page, "<i class=\"{verdict}\" style=\"flex:{count}\" title=\"{count} {verdict}\"></i>");
        }
        line!(page, "</div>");
    }
    line!(page, "<div class=\"soft counts\">{}</div>", counts(report));
    line!(page, "</header>");
}

fn counts(report: &Report) -> String {
    let told = VERDICTS.iter().rev().map(|verdict| (report.count(*verdict), verdict));
    let told = told.filter(|(count, _)| *count > 0).map(|(count, verdict)| match verdict {
        Verdict::Failed => format!("{count} failed{}", report.mild()),
        other => format!("{count} {other}"),
    });
    told.chain([format!("in {:.1} s", report.took.as_secs_f64())]).collect::<Vec<_>>().join(" · ")
}

/// Why the program does not conform, each with its reason and the way to its frames.
fn reasons(page: &mut String, report: &Report) {
    let objections = report.objections();
    if objections.is_empty() {
        return;
    }
    line!(page, "<h2>Why it does not conform</h2>\n<ul class=\"reasons\">");
    for objection in &objections {
        let id = objection.split(' ').next().unwrap_or_default();
        if let Some(outcome) = report.outcomes.iter().find(|outcome| outcome.requirement.id == id) {
            line!(page, "<li><a href=\"#{id}\"><code>{id}</code></a> {}", marked(&outcome.why));
            line!(page, "<div class=\"soft\">{}</div></li>", marked(&outcome.requirement.text));
        } else {
            line!(page, "<li>{}</li>", escaped(objection));
        }
    }
    line!(page, "</ul>");
}

fn scenario(page: &mut String, report: &Report) {
    let count = |verdict| report.rows.iter().filter(|row| row.verdict == verdict).count();
    let failed = count(Verdict::Failed);
    let open = if failed > 0 { " open" } else { "" };
    line!(
        page,
        "<h2>The scenario</h2>\n<p class=\"soft\">A real session, over several processes and one store.</p>"
    );
    line!(
        page,
        "<details class=\"group\"{open}><summary><b>{} steps</b>{}</summary>",
        report.rows.len(),
        tally(count)
    );
    for row in &report.rows {
        step(page, row);
    }
    line!(page, "</details>");
    for (run, recording) in &report.recordings {
        line!(page, "<details class=\"group\"><summary><b>Run {run}</b><span class=\"soft\">");
        line!(page, "everything that crossed: {} lines</span></summary>", recording.frames.len());
        diagram::draw(page, &recording.frames, None);
        line!(page, "</details>");
    }
}

/// How many of each verdict, those that are not there left out.
fn tally(count: impl Fn(Verdict) -> usize) -> String {
    let told = VERDICTS.iter().map(|verdict| (count(*verdict), verdict)).filter(|(count, _)| *count > 0);
    let told = told.map(|(count, verdict)| {
        format!("<span class=\"tally\"><i class=\"dot {verdict}\"></i>{count} {verdict}</span>")
    });
    told.collect()
}

fn step(page: &mut String, row: &Row) {
    let open = if row.verdict == Verdict::Failed { " open" } else { "" };
    line!(
        page,
        "<details class=\"row step\"{open}><summary><i class=\"dot {}\" title=\"{}\"></i>",
        row.verdict,
        row.verdict
    );
    line!(page, "<span class=\"chip\">run {}</span><span>{}</span>", row.run, escaped(row.step));
    line!(
        page,
        "<span class=\"time\">{:.0} ms</span></summary><div class=\"body\">",
        row.took.as_secs_f64() * 1000.0
    );
    why(page, row.verdict, &row.why);
    if !row.frames.is_empty() {
        diagram::draw(page, &row.frames, None);
    }
    line!(page, "</div></details>");
}

fn results(page: &mut String, report: &Report) {
    line!(page, "<h2>The requirements</h2>\n<div class=\"legend\">");
    for verdict in VERDICTS {
        let count = report.count(verdict);
        line!(
            page,
            "<button data-verdict=\"{verdict}\" aria-pressed=\"false\" title=\"{}\"><i class=\"dot {verdict}\"></i>{count} {verdict}</button>",
            verdict.meaning()
        );
    }
    line!(page, "<input type=\"search\" placeholder=\"Find\" aria-label=\"Find a requirement\">");
    line!(page, "</div>");
    words(page);
    line!(page, "<div id=\"results\">");
    let mut subjects: Vec<&str> = Vec::new();
    for outcome in &report.outcomes {
        let subject = subject_of(&outcome.requirement.id);
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    for subject in subjects {
        let of = || report.outcomes.iter().filter(|outcome| subject_of(&outcome.requirement.id) == subject);
        let count = |verdict| of().filter(|outcome| outcome.verdict == verdict).count();
        let open = if of().any(super::decides_against) { " open" } else { "" };
        line!(page, "<details class=\"group\"{open}><summary><b>{subject}</b>{}</summary>", tally(count));
        // What a reader came for stands first.
        let mut rows: Vec<&Outcome> = of().collect();
        rows.sort_by_key(|outcome| (!super::decides_against(outcome), outcome.verdict != Verdict::Failed));
        for outcome in rows {
            requirement(page, report, outcome);
        }
        line!(page, "</details>");
    }
    line!(page, "</div>");
}

/// What the words of the report mean.
fn words(page: &mut String) {
    line!(page, "<details class=\"words\"><summary>What these words mean</summary>\n<dl>");
    for verdict in VERDICTS {
        line!(page, "<dt><i class=\"dot {verdict}\"></i>{verdict}</dt><dd>{}</dd>", verdict.meaning());
    }
    line!(page, "<dt>binding</dt><dd>{BINDING}</dd>\n</dl></details>");
}

fn requirement(page: &mut String, report: &Report, outcome: &Outcome) {
    let each = outcome.requirement;
    let open = if super::decides_against(outcome) { " open" } else { "" };
    let verdict = outcome.verdict;
    let mild = if each.tier.decides() { "" } else { " mild" };
    line!(page, "<details class=\"row\" data-verdict=\"{verdict}\" id=\"{}\"{open}><summary>", each.id);
    line!(
        page,
        "<i class=\"dot {verdict}{mild}\" title=\"{verdict}\"></i><code>{}</code><span class=\"chip\">{}</span>",
        each.id,
        each.tier
    );
    line!(
        page,
        "<span>{}</span><span class=\"time\">{:.1} s</span></summary><div class=\"body\">",
        marked(&each.text),
        outcome.took.as_secs_f64()
    );
    why(page, verdict, &outcome.why);
    if let Some(reason) = report.baseline.as_ref().and_then(|baseline| baseline.reason(&each.id)) {
        line!(page, "<div class=\"soft\">Known: {}</div>", escaped(reason));
    }
    let gate = if each.gate.is_empty() { "always" } else { &each.gate };
    line!(
        page,
        "<div class=\"soft\">{} · applies: {} · {}</div>",
        each.basis,
        marked(gate),
        marked(&each.source)
    );
    line!(page, "<pre>{}</pre>", escaped(&report.rerun(outcome)));
    for exhibit in &outcome.evidence {
        diagram::draw(page, &exhibit.frames, exhibit.at_fault);
        if !exhibit.stderr.trim().is_empty() {
            let lines: Vec<&str> = exhibit.stderr.lines().rev().take(12).collect();
            let tail = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
            line!(page, "<div class=\"soft\">stderr</div><pre>{}</pre>", escaped(&tail));
        }
    }
    line!(page, "</div></details>");
}

fn why(page: &mut String, verdict: Verdict, why: &str) {
    if !why.is_empty() {
        line!(page, "<div class=\"why {verdict}\">{}</div>", marked(why));
    }
}

/// Text for a page, with what stands between backticks as code.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(
            |(place, part)| {
                if place % 2 == 0 { escaped(part) } else { format!("<code>{}</code>", escaped(part)) }
            },
        )
        .collect()
}

/// With a capital letter, as the first word of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

pub(super) fn escaped(text: &(impl Display + ?Sized)) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
