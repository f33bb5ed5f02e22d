//! Runs every defect against the kit: its own check fails, and no other mandatory one does.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use accord_conformance::trial::{self, Found, Known};

use crate::table::Defect;
use crate::{agent, client};

/// The program under test.
const KIT: &str = env!("CARGO_BIN_EXE_accord-conformance");

/// What is checked on each side besides a defect's own check, in runs that have to be short. The witness sees all of them anyway.
const AGENT_SENTINELS: &[&str] = &["ACP-INIT-001", "ACP-SESSION-001", "ACP-PROMPT-001"];
const CLIENT_SENTINELS: &[&str] = &["ACPX-INIT-002", "ACPX-PERM-001"];

fn say(text: &str) {
    // A reader that has gone wants to hear nothing.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// One side of the kit.
struct Half {
    name: &'static str,
    known: Vec<Known>,
    defects: Vec<&'static Defect>,
    /// Checks without a defect, and why.
    spared: &'static [(&'static str, &'static str)],
    sentinels: &'static [&'static str],
    words: fn(&Defect) -> Vec<String>,
}

/// What is asked of this run.
struct Wish {
    /// Every mandatory check against every defect, instead of the sentinels.
    full: bool,
    jobs: usize,
    /// Ids, or their beginnings.
    only: Vec<String>,
}

/// Serves `[--full] [--jobs N] [ID…]`; flags of the test harness are passed over.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let mut wish =
        Wish { full: std::env::var_os("ACCORD_SELF_CHECK_FULL").is_some(), jobs: 8, only: Vec::new() };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--full" => wish.full = true,
            "--jobs" => wish.jobs = rest.next().and_then(|number| number.parse().ok()).unwrap_or(wish.jobs),
            "--list" => return ExitCode::SUCCESS,
            flag if flag.starts_with("--") => {}
            id => wish.only.push(id.to_owned()),
        }
    }
    let began = Instant::now();
    let (mut count, mut troubles) = (0, Vec::new());
    for half in [agent_half(), client_half()] {
        troubles.extend(half.gaps());
        let picked: Vec<&Defect> =
            half.defects.iter().copied().filter(|defect| wish.wants(half.name, defect.id)).collect();
        count += picked.len();
        troubles.extend(half.try_all(&picked, &wish));
    }
    say(&format!("{count} defects, {} troubles, {:.1} s", troubles.len(), began.elapsed().as_secs_f64()));
    for trouble in &troubles {
        say(&format!("  {trouble}"));
    }
    if troubles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn agent_half() -> Half {
    Half {
        name: "agent",
        known: trial::of_agents(),
        defects: agent::all(),
        spared: agent::SPARED,
        sentinels: AGENT_SENTINELS,
        words: agent::words,
    }
}

fn client_half() -> Half {
    Half {
        name: "client",
        known: trial::of_clients(),
        defects: client::all(),
        spared: client::SPARED,
        sentinels: CLIENT_SENTINELS,
        words: client::words,
    }
}

impl Wish {
    fn wants(&self, side: &str, id: &str) -> bool {
        let fits = |wanted: &String| wanted == side || id.starts_with(wanted.as_str());
        self.only.is_empty() || self.only.iter().any(fits)
    }
}

impl Half {
    /// Checks that have neither a defect nor a reason, and rows that belong to no check.
    fn gaps(&self) -> Vec<String> {
        let known: BTreeSet<&str> = self.known.iter().map(|known| known.id).collect();
        let rows = self.defects.iter().map(|defect| defect.id);
        let rows: Vec<&str> = rows.chain(self.spared.iter().map(|(id, _)| *id)).collect();
        let bare = known.iter().filter(|id| !rows.contains(id));
        let mut gaps: Vec<String> =
            bare.map(|id| format!("{}: {id} has neither a defect nor a reason why not", self.name)).collect();
        for (place, id) in rows.iter().enumerate() {
            if !known.contains(id) {
                gaps.push(format!("{}: {id} has a row, and no check", self.name));
            }
            if rows[..place].contains(id) {
                gaps.push(format!("{}: {id} has two rows", self.name));
            }
        }
        gaps
    }

    fn try_all(&self, picked: &[&Defect], wish: &Wish) -> Vec<String> {
        let next = AtomicUsize::new(0);
        let troubles = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..wish.jobs {
                scope.spawn(|| {
                    while let Some(defect) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let began = Instant::now();
                        let found = self.troubles(defect, wish.full);
                        if std::env::var_os("ACCORD_SELF_CHECK_TIMES").is_some() {
                            let took = began.elapsed().as_secs_f64();
                            say(&format!("{took:6.1} s  {} {} {found:?}", self.name, defect.id));
                        }
                        troubles.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                    }
                });
            }
        });
        troubles.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn troubles(&self, defect: &Defect, full: bool) -> Vec<String> {
        // A run that did not begin says nothing of the kit, and on a busy machine it happens; it gets a second chance.
        let found = match self.found(defect, full).or_else(|_| self.found(defect, full)) {
            Ok(found) => found,
            Err(why) => return vec![format!("{} {}: {why}", self.name, defect.id)],
        };
        let trouble = |text: String| format!("{} {}: {text}", self.name, defect.id);
        let own = found.iter().find(|found| found.id == defect.id);
        let mut troubles = match own {
            Some(own) if own.verdict == "failed" => Vec::new(),
            Some(own) => vec![trouble(format!("its check is {}: {}", own.verdict, own.why))],
            None => vec![trouble("its check did not run".into())],
        };
        let others = found
            .iter()
            .filter(|found| found.id != defect.id && found.verdict == "failed" && found.mandatory);
        let implied = |id: &str| defect.implies.iter().any(|implied| *implied == "*" || *implied == id);
        troubles.extend(others.filter(|found| !implied(&found.id)).map(|found| {
            trouble(format!(
                "{} fails, too: {} (implied: {:?}, {})",
                found.id, found.why, defect.implies, defect.why
            ))
        }));
        troubles
    }

    fn found(&self, defect: &Defect, full: bool) -> Result<Vec<Found>, String> {
        let mut ids = vec![defect.id];
        ids.extend(defect.seen_in);
        let sentinel = |known: &&Known| {
            known.mandatory && (full || !known.provoked || self.sentinels.contains(&known.id))
        };
        ids.extend(self.known.iter().filter(sentinel).map(|known| known.id));
        let mut args = vec![self.name.to_owned(), "--only".into(), ids.join(","), "--jobs=1".into()];
        args.extend(defect.flags.iter().map(|flag| (*flag).to_owned()));
        args.extend((self.words)(defect));
        if full {
            // So many checks at a time on a busy machine take their time.
            args.iter_mut()
                .filter(|arg| *arg == "--timeout=8")
                .for_each(|arg| "--timeout=60".clone_into(arg));
        }
        trial::run(Path::new(KIT), &args)
    }
}

/// This program, as the spoiler of one defect.
pub(crate) fn spoiler(side: &str, defect: &Defect) -> Vec<String> {
    let own = std::env::current_exe().expect("it runs");
    vec![own.to_string_lossy().into_owned(), "spoil".into(), side.into(), defect.id.into()]
}
