//! The command line of the subject client.

use std::time::Duration;

use accord_client::AgentCommand;

pub(super) const USAGE: &str = "\
usage: accord-subject-client [--permission allow|reject|cancel|wait] [--timeout SECONDS] [--prompt TEXT]… -- AGENT [ARGUMENT…]

Starts the agent, runs the prompts one after the other, and prints every event and the end as JSON lines. Files of the
folder it is started in, and terminals, are offered to the agent. The exit status is 0 when every turn had a stop reason;
otherwise it names the cause:
  2 usage   3 not started   4 ended before initialize   5 initialize timed out   6 protocol version   7 initialize failed
  8 login wanted   9 connection lost   10 timed out   11 refused   12 malformed answer   13 unsupported   14 cancel ignored";

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) permission: Permission,
    pub(super) timeout: Duration,
    pub(super) prompts: Vec<String>,
    pub(super) agent: AgentCommand,
}

/// What permission questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// Yes, once.
    Allow,
    /// No, once.
    Reject,
    /// The turn is cancelled.
    Cancel,
    /// Nothing.
    Wait,
}

impl Permission {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "allow" => Some(Self::Allow),
            "reject" => Some(Self::Reject),
            "cancel" => Some(Self::Cancel),
            "wait" => Some(Self::Wait),
            _ => None,
        }
    }
}

impl Options {
    pub(super) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            permission: Permission::Reject,
            timeout: Duration::from_secs(60),
            prompts: Vec::new(),
            agent: AgentCommand::new(""),
        };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            if name == "--" {
                let program = rest.next().ok_or("there is no agent command after `--`")?;
                options.agent = AgentCommand::new(program).args(rest);
                return Ok(options);
            }
            let mut value = || rest.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--permission" => {
                    let value = value()?;
                    options.permission =
                        Permission::parse(value).ok_or("--permission takes allow, reject, cancel or wait")?;
                }
                "--timeout" => {
                    let seconds = value()?.parse().map_err(|_| "--timeout takes a number of seconds")?;
                    options.timeout =
                        Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
                }
                "--prompt" => options.prompts.push(value()?.clone()),
                other => return Err(format!("unknown option {other}")),
            }
        }
        Err("there is no `--` with an agent command".to_owned())
    }
}
