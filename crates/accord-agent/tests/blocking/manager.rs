//! The session manager: from any thread, and through restarts, forks, moves and rest.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use accord_agent::{
    blocking::{
        Blocking, BlockingAgent, BlockingSession, Callbacks, Failure, Opening, Prompt, Reply, SessionsError,
        Setup,
    },
    protocol::v1::{Implementation, SessionId},
};
use serde_json::{Value, json, value::RawValue};

/// Counts the conversations that exist, and keeps what each was set up with.
#[derive(Clone, Default)]
struct Counting {
    alive: Arc<AtomicUsize>,
    setups: Arc<Mutex<Vec<Seen>>>,
}

/// A conversation that was restored: its id, its directory, its history.
type Seen = (SessionId, PathBuf, Vec<Value>);

struct Conversation {
    agent: Counting,
    setup: Setup,
    history: Vec<Value>,
}

impl BlockingAgent for Counting {
    type Session = Conversation;

    fn info(&self) -> Implementation {
        Implementation::new("counting", "1.0.0")
    }

    fn create(&self, setup: &Setup) -> Result<Conversation, Failure> {
        if setup.cwd.ends_with("bad") {
            return Err(Failure::failed("no such project"));
        }
        assert!(!setup.cwd.ends_with("worse"), "on purpose");
        self.alive.fetch_add(1, Ordering::SeqCst);
        Ok(Conversation { agent: self.clone(), setup: setup.clone(), history: Vec::new() })
    }
}

impl BlockingSession for Conversation {
    fn run(&mut self, _: &Prompt, _: &Callbacks) -> Result<Reply, Failure> {
        Ok(Reply::done())
    }

    fn history(&self) -> Vec<Value> {
        self.history.clone()
    }

    fn restore(&mut self, history: Vec<Value>) -> Result<(), Failure> {
        self.history.clone_from(&history);
        let seen = (self.setup.session_id.clone(), self.setup.cwd.clone(), history);
        self.agent.setups.lock().expect("no panic while held").push(seen);
        Ok(())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.agent.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

fn stored(entries: &Value) -> Vec<Box<RawValue>> {
    vec![serde_json::value::to_raw_value(&json!({ "history": { "keep": 0, "add": entries } })).expect("JSON")]
}

// H3
#[test]
fn many_threads_make_find_list_fork_and_remove() {
    let agent = Counting::default();
    let blocking = Blocking::new(agent.clone());
    let sessions = blocking.sessions();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for number in 0..50 {
                    let id = SessionId::from(format!("{thread}-{number}"));
                    sessions.create(id.clone(), Opening::new(format!("/{thread}"))).expect("a new id");
                    assert_eq!(
                        sessions.get(&id).expect("it is open").cwd.to_str(),
                        Some(&*format!("/{thread}"))
                    );
                    let fork = SessionId::from(format!("{thread}-{number}-fork"));
                    sessions.fork(&id, fork.clone(), "/forks").expect("a source and a new id");
                    assert!(sessions.list().iter().any(|state| state.id == fork));
                    if number % 2 == 0 {
                        assert!(sessions.remove(&id));
                        assert!(!sessions.remove(&id), "once");
                        assert_eq!(sessions.get(&id), None);
                    }
                }
            });
        }
    });
    assert_eq!(sessions.list().len(), 8 * (25 + 50));
    assert_eq!(agent.alive.load(Ordering::SeqCst), 8 * (25 + 50), "what is removed is dropped");
}

// H3
#[test]
fn an_id_is_one_session_whoever_is_first() {
    let agent = Counting::default();
    let blocking = Blocking::new(agent.clone());
    let made = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| match blocking.sessions().create("same", Opening::new("/w")) {
                Ok(()) => {
                    made.fetch_add(1, Ordering::SeqCst);
                }
                Err(error) => assert_eq!(error, SessionsError::Taken("same".into())),
            });
        }
    });
    assert_eq!((made.load(Ordering::SeqCst), agent.alive.load(Ordering::SeqCst)), (1, 1));
}

// H3, D6
#[test]
fn what_cannot_be_opened_leaves_nothing() {
    let agent = Counting::default();
    let blocking = Blocking::new(agent.clone());
    let sessions = blocking.sessions();
    let failure = SessionsError::Agent(Failure::failed("no such project"));
    assert_eq!(sessions.create("a", Opening::new("/bad")), Err(failure));
    assert_eq!(sessions.create("a", Opening::new("/worse")), Err(SessionsError::Panicked));
    assert_eq!(sessions.fork(&"a".into(), "b", "/w"), Err(SessionsError::Unknown("a".into())));
    assert_eq!(sessions.set_cwd(&"a".into(), "/w"), Err(SessionsError::Unknown("a".into())));
    assert!(sessions.list().is_empty());
    sessions.create("a", Opening::new("/good")).expect("the id is free");
}

// H4, H10, H12
#[test]
fn a_stored_session_comes_back_and_a_fork_is_its_own() {
    let agent = Counting::default();
    let blocking = Blocking::new(agent.clone());
    let sessions = blocking.sessions();
    let entries = json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": "ho" }]);
    sessions.create("old", Opening::new("/w").records(stored(&entries))).expect("a new id");
    sessions.fork(&"old".into(), "new", "/elsewhere").expect("a source and a new id");
    sessions.remove(&"old".into());
    let fork = sessions.get(&"new".into()).expect("it is open");
    assert_eq!((fork.cwd.to_str(), fork.entries), (Some("/elsewhere"), 2));
    let seen = agent.setups.lock().expect("no panic while held").clone();
    let entries = entries.as_array().expect("an array").clone();
    assert_eq!(
        seen,
        [("old".into(), "/w".into(), entries.clone()), ("new".into(), "/elsewhere".into(), entries),]
    );
}

// H3
#[test]
fn the_unused_are_put_to_rest_and_the_moved_are_made_anew() {
    let agent = Counting::default();
    let blocking = Blocking::new(agent.clone());
    let sessions = blocking.sessions();
    sessions.create("a", Opening::new("/w")).expect("a new id");
    sessions.create("b", Opening::new("/w")).expect("a new id");
    assert_eq!(sessions.clean_up(Duration::from_secs(3600)), 0, "both were used just now");
    assert_eq!(sessions.clean_up(Duration::ZERO), 2);
    assert_eq!(agent.alive.load(Ordering::SeqCst), 0);
    assert_eq!(sessions.clean_up(Duration::ZERO), 0, "there is nothing left to drop");
    let state = sessions.get(&"a".into()).expect("it is open still");
    assert!(!state.awake && !state.running);
    sessions.set_cwd(&"a".into(), "/moved").expect("no turn runs");
    assert_eq!(sessions.get(&"a".into()).expect("it is open").cwd.to_str(), Some("/moved"));
}
