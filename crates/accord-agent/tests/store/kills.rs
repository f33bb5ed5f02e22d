//! Processes that are killed wherever it hits them: what they were told is stored is stored, and nothing is torn.

use std::env;
use std::hint;

use super::life::{Dice, KINDS};
use super::lives::{Expected, Life};

/// How often a process is killed; `ACCORD_KILLS` asks for more.
const KILLS: u64 = 80;
/// A life is longer than anybody waits for.
const FOREVER: usize = 100_000;

fn kills() -> u64 {
    env::var("ACCORD_KILLS").map_or(KILLS, |kills| kills.parse().expect("ACCORD_KILLS is a number"))
}

/// The first seed; each life has the next one.
fn seed() -> u64 {
    env::var("ACCORD_SEED").map_or(1, |seed| seed.parse().expect("ACCORD_SEED is a number"))
}

/// Listens until the life is over; it is killed a moment after it has begun its deed of this number.
fn listen(life: &mut Life, expected: &mut Expected, last: usize, moment: usize) {
    let mut begun = 0;
    while let Some(line) = life.line() {
        expected.hear(&line);
        begun += usize::from(line.starts_with('>'));
        if line.starts_with('>') && begun == last {
            for _ in 0..moment {
                hint::spin_loop();
            }
            life.kill();
        }
    }
}

// D6, rule 12: acknowledged is stored, and everything else is there as a whole or not at all
#[test]
fn a_kill_anywhere_loses_nothing_and_tears_nothing() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut expected = Expected::default();
        for seed in seed()..seed() + kills() {
            let mut dice = Dice::new(seed);
            let mut life = Life::free(dir.path(), kind, "s", seed, FOREVER);
            listen(&mut life, &mut expected, 1 + dice.below(25), dice.below(60_000));
            assert!(!life.end(), "it was killed");
            expected.check(kind, dir.path(), &format!("{kind}, seed {seed}"));
        }
        #[cfg(feature = "sqlite")]
        if *kind == "sqlite" {
            let db = rusqlite::Connection::open(dir.path().join("sessions.db")).unwrap();
            let sound: String = db.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
            assert_eq!(sound, "ok");
        }
    }
}

// The same with a neighbour, which notices nothing.
#[test]
fn a_kill_leaves_other_processes_alone() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut expected = Expected::default();
        for seed in seed()..seed() + kills().div_ceil(20) {
            let mut dice = Dice::new(seed);
            let mut neighbour = Life::free(dir.path(), kind, "n", seed, 60);
            let mut life = Life::free(dir.path(), kind, "s", seed + 1, FOREVER);
            let mut killed = expected.part("s");
            listen(&mut life, &mut killed, 1 + dice.below(25), dice.below(60_000));
            assert!(!life.end(), "it was killed");
            let mut whole = expected.part("n");
            listen(&mut neighbour, &mut whole, 0, 0);
            assert!(neighbour.end(), "{kind}, seed {seed}: the neighbour went on to its end");
            expected.merge(killed);
            expected.merge(whole);
            expected.check(kind, dir.path(), &format!("{kind}, seed {seed}"));
        }
    }
}
