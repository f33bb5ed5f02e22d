//! The part of the kit that a client starts as its agent.

use std::process::ExitCode;

use crate::wire::player::Player;
use crate::wire::scripts;

/// Serves `play SCRIPT RECORDING`.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let [_, name, path, ..] = args else {
        crate::say::err("play SCRIPT RECORDING\n");
        return ExitCode::from(2);
    };
    let (Some(play), Ok(mut player)) = (scripts::find(name), Player::take(path)) else {
        crate::say::err(&format!("no script {name}, or {path} can't be written\n"));
        return ExitCode::from(2);
    };
    play(&mut player);
    player.note("done");
    player.rest();
    ExitCode::SUCCESS
}
