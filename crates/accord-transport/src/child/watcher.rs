//! Kills the children of a process that is itself killed.
//!
//! A shell outside every group reads the names of the groups to guard from a pipe. The end of the pipe means that this
//! process is gone, however it went, and the shell kills what is left on its list.
//!
//! Two ways out remain: a process that leaves its group with `setsid`, and a parent that is killed in the moment between
//! the start of a child and the line about it. The child of the latter still sees the end of its stdin.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

/// `+ 123` guards a group, `- 123` releases it.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
"#;

static WATCHER: Mutex<Option<Child>> = Mutex::new(None);

/// Has the group killed when this process ends before [`release`].
pub(crate) fn guard(group: Pid) {
    tell('+', group);
}

/// The group is gone.
pub(crate) fn release(group: Pid) {
    tell('-', group);
}

fn tell(what: char, group: Pid) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = try_tell(&mut watcher, what, group) {
        // Someone killed it: the next child starts another.
        *watcher = None;
        if what == '+' {
            tracing::warn!(target: "accord::child", %error, "children will outlive this process if it is killed");
        }
    }
}

fn try_tell(watcher: &mut Option<Child>, what: char, group: Pid) -> io::Result<()> {
    if watcher.is_none() && what == '+' {
        *watcher = Some(start()?);
    }
    let Some(pipe) = watcher.as_mut().and_then(|child| child.stdin.as_mut()) else { return Ok(()) };
    // One write, so that no line is torn.
    pipe.write_all(format!("{what} {}\n", group.as_raw_nonzero()).as_bytes())
}

fn start() -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}
