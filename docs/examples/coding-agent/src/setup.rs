//! `--check` and `--setup`: what the agent needs to know, and asking for it.

use std::{
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use accord_agent::{
    blocking::Login,
    cli::{Check, Console, Environment, SetupError},
};

use crate::config::{BASE_URL, Backend, Config, KEY, MODELS};

/// How long a model server may take to accept a connection while it is only looked at.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is configured, and whether the agent can start with it.
pub(crate) fn check(config: &Config) -> Vec<Check> {
    let mut checks = vec![match (config.backend, config.login()) {
        (Backend::Scripted, _) => Check::good("model", "the scripted one, which needs no server"),
        (_, Login::Missing { what }) => Check::bad("model", format!("{what}; run with --setup")),
        _ => Check::good("model", config.models().join(", ")),
    }];
    if let (Backend::Chat, Some(url)) = (config.backend, config.base_url()) {
        checks.push(match reached(&url) {
            Ok(()) => Check::good("server", format!("{url} accepts connections")),
            Err(why) => Check::bad("server", format!("{url}: {why}")),
        });
    }
    checks.push(match config.state_dir() {
        Some(folder) => Check::good("sessions", folder.display().to_string()),
        None => Check::bad("sessions", "no directory for them: set ACCORD_STATE_DIR"),
    });
    checks
}

/// Asks for the model server and stores the answers in the env file.
pub(crate) fn ask(environment: &mut Environment, console: &mut Console<'_>) -> Result<(), SetupError> {
    console.say("Any server that speaks chat completions will do: a local one, or one further away.")?;
    let known = |environment: &Environment, name: &str, otherwise: &str| {
        environment.get(name).unwrap_or_else(|| otherwise.to_owned())
    };
    let url = console.ask("Its address", &known(environment, BASE_URL, "http://127.0.0.1:8080/v1"))?;
    if let Err(why) = usable(&url) {
        return Err(SetupError::Refused(why));
    }
    let models = console.ask("Its models, separated by commas", &known(environment, MODELS, ""))?;
    if models.is_empty() {
        return Err(SetupError::Refused("at least one model is needed".to_owned()));
    }
    let key = console.ask_secret("Its key (empty for none, or to keep the one there is)")?;
    let mut answers = vec![(BASE_URL, url.as_str()), (MODELS, models.as_str())];
    if !key.is_empty() {
        answers.push((KEY, key.as_str()));
    }
    environment.store(&answers)?;
    if let Some(file) = environment.file() {
        console.say(&format!("Stored in {}.", file.display()))?;
    }
    match reached(&url) {
        Ok(()) => console.say("The server accepts connections.")?,
        Err(why) => console.say(&format!("Note: the server cannot be reached now ({why})."))?,
    }
    Ok(())
}

/// Whether this build can use an address at all.
fn usable(url: &str) -> Result<(), String> {
    if url.starts_with("http://") || (cfg!(feature = "tls") && url.starts_with("https://")) {
        return Ok(());
    }
    if url.starts_with("https://") {
        return Err(
            "this build has no TLS: build it with the feature `tls`, or go through a local proxy".to_owned()
        );
    }
    Err(format!("{url} is no http address"))
}

fn reached(url: &str) -> Result<(), String> {
    usable(url)?;
    let (port, rest) = match url.split_once("://") {
        Some(("https", rest)) => (443, rest),
        Some((_, rest)) => (80, rest),
        None => (80, url),
    };
    let place = rest.split('/').next().unwrap_or(rest);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let place = if has_port { place.to_owned() } else { format!("{place}:{port}") };
    let addresses = place.to_socket_addrs().map_err(|error| error.to_string())?;
    let mut last = "the name stands for no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}
