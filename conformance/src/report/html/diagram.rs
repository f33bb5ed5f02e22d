//! A sequence diagram of what crossed: an arrow a line, its JSON behind a click.

use std::collections::BTreeMap;

use super::escaped;
use crate::say::line;
use crate::wire::frame::{Direction, Frame};
use crate::wire::run::title;

/// As many arrows as a reader takes in; the middle is left out.
const SHOWN: usize = 120;
/// Characters of a line's JSON.
const SHOWN_OF_LINE: usize = 3000;

/// Lines of one kind in a row, shown as one arrow.
struct Run<'f> {
    first: &'f Frame,
    count: usize,
    fault: bool,
    label: String,
}

/// Draws `frames`, with the one at fault marked.
pub(super) fn draw(page: &mut String, frames: &[Frame], at_fault: Option<usize>) {
    let runs = gathered(frames, at_fault);
    line!(page, "<div class=\"wire\"><div class=\"ends\"><span>client</span><span>agent</span></div>");
    let fault = runs.iter().position(|run| run.fault);
    // What led to the fault matters more than what came long after.
    let end = fault.map_or(runs.len(), |place| (place + 20).min(runs.len()));
    let (head, tail) = if end > SHOWN { (SHOWN / 3, end - SHOWN * 2 / 3) } else { (end, end) };
    runs[..head].iter().for_each(|run| arrow(page, run));
    if tail > head {
        line!(page, "<div class=\"gap\">… {} more …</div>", tail - head);
    }
    runs[tail..end].iter().for_each(|run| arrow(page, run));
    if end < runs.len() {
        line!(page, "<div class=\"gap\">… {} more …</div>", runs.len() - end);
    }
    line!(page, "</div>");
}

fn gathered(frames: &[Frame], at_fault: Option<usize>) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut asked: BTreeMap<(Direction, String), String> = BTreeMap::new();
    for (place, frame) in frames.iter().enumerate() {
        let (mut label, fault) = (title(frame), at_fault == Some(place));
        if let Ok(line) = frame.json() {
            let id = line["id"].to_string();
            if let Some(method) = line["method"].as_str() {
                asked.insert((frame.direction, id), method.to_owned());
            } else if let Some(method) = asked.remove(&(frame.direction.reverse(), id)) {
                label = format!("{label} to {method}");
            }
        }
        match runs.last_mut() {
            Some(run)
                if !fault && !run.fault && run.label == label && run.first.direction == frame.direction =>
            {
                run.count += 1;
            }
            _ => runs.push(Run { first: frame, count: 1, fault, label }),
        }
    }
    runs
}

fn arrow(page: &mut String, run: &Run<'_>) {
    let way = match run.first.direction {
        Direction::ToAgent => "to-agent",
        Direction::ToClient => "to-client",
    };
    let kind = if run.label.starts_with("session/update") { " update" } else { "" };
    let fault = if run.fault { " fault" } else { "" };
    let times = if run.count > 1 { format!(" × {}", run.count) } else { String::new() };
    let at = run.first.at.as_secs_f64();
    let open = if run.fault { " open" } else { "" };
    line!(page, "<details class=\"{way}{kind}{fault}\"{open}><summary><span class=\"at\">{at:.3}</span>");
    line!(
        page,
        "<span class=\"lane\"><span><b>{}{times}</b></span></span><span></span></summary>",
        escaped(&run.label)
    );
    line!(page, "<pre>{}</pre></details>", escaped(&pretty(run.first)));
}

fn pretty(frame: &Frame) -> String {
    let text = match frame.json() {
        Ok(value) => format!("{value:#}"),
        Err(_) => frame.excerpt(SHOWN_OF_LINE),
    };
    match text.char_indices().nth(SHOWN_OF_LINE) {
        Some((cut, _)) => format!("{}\n… ({} bytes)", &text[..cut], frame.bytes.len()),
        None => text,
    }
}
