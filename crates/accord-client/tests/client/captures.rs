//! Recorded agents: what they said gives the same transcript each time, and played again they lose nothing.
//!
//! The recordings are in `../shared/captures`, or where `ACCORD_CAPTURES` says.

mod player;
mod render;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use accord_client::{Transcript, protocol::v1::SessionNotification};
use serde_json::Value;

/// One line of a recording.
struct Recorded {
    from_agent: bool,
    frame: Value,
}

fn folder() -> Option<PathBuf> {
    let folder = env::var_os("ACCORD_CAPTURES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}

/// The recordings by name, in order. Lines that were no JSON are left out: those are the recording client's own.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn recordings() -> BTreeMap<String, Vec<Recorded>> {
    let Some(folder) = folder() else {
        eprintln!("skipped: there are no recordings here; ACCORD_CAPTURES names their folder");
        return BTreeMap::new();
    };
    let mut recordings = BTreeMap::new();
    for group in fs::read_dir(folder).expect("the folder can be read").flatten() {
        let Ok(files) = fs::read_dir(group.path()) else { continue };
        for file in files
            .flatten()
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        {
            let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).expect("a recording is text");
            let lines = text.lines().filter_map(|line| {
                let line: Value = serde_json::from_str(line).expect("a recording is JSON lines");
                let frame = line.get("frame")?.clone();
                Some(Recorded { from_agent: line["dir"] == "<", frame })
            });
            recordings.insert(name, lines.collect());
        }
    }
    recordings
}

/// The transcripts of a recording's sessions, folded in the order of the wire.
fn transcripts(recording: &[Recorded]) -> Vec<(String, Transcript)> {
    let mut prompts: BTreeMap<String, String> = BTreeMap::new();
    let mut sessions: Vec<(String, Transcript)> = Vec::new();
    for Recorded { from_agent, frame } in recording {
        if !from_agent {
            if frame["method"] == "session/prompt" {
                let session = frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
                prompts.insert(frame["id"].to_string(), session);
            }
        } else if frame["method"] == "session/update" {
            let notification: SessionNotification =
                serde_json::from_value(frame["params"].clone()).expect("agents send well-formed updates");
            let id = notification.session_id.to_string();
            let place = sessions.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
                sessions.push((id, Transcript::new()));
                sessions.len() - 1
            });
            sessions[place].1.apply(&notification.update);
        } else if let Some(session) = prompts.remove(&frame["id"].to_string())
            && let Some((_, transcript)) = sessions.iter_mut().find(|(known, _)| *known == session)
        {
            transcript.end_turn();
        }
    }
    sessions
}

// Issue "Must hold": a recorded capture gives the same transcript each time. `UPDATE_EXPECT=1` writes them anew.
#[test]
fn captures_give_the_same_transcripts() {
    // A file an agent: several recordings of it in one.
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, recording) in recordings() {
        let agent =
            name.split(|c: char| c.is_ascii_digit()).next().unwrap_or(&name).trim_end_matches('-').to_owned();
        let text = texts.entry(agent).or_default();
        text.push_str("# ");
        text.push_str(&name);
        text.push('\n');
        for (session, transcript) in transcripts(&recording) {
            render::session(text, &session, &transcript);
        }
    }
    for (agent, text) in texts {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/transcripts/{agent}.txt"));
        expect_test::expect_file![path].assert_eq(&text);
    }
}

// Issue "Must hold": every capture played again as a scripted agent: no error, no lost update.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn captures_played_again_lose_nothing() {
    let recordings = recordings();
    let mut played_updates = 0;
    for (name, recording) in &recordings {
        let playing = player::play(recording);
        let played = tokio::time::timeout(Duration::from_secs(60), playing).await;
        let played = played.unwrap_or_else(|_| panic!("{name}: the playing got stuck"));
        assert_eq!(played.received, played.sent, "{name}");
        played_updates += played.received.values().sum::<usize>();
    }
    assert_eq!(played_updates > 0, !recordings.is_empty());
}
