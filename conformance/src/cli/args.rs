//! Flags and the command after `--`.

/// A flag of a command; an empty `value` means that it takes none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) value: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) const fn flag(name: &'static str, value: &'static str, about: &'static str) -> Flag {
    Flag { name, value, about }
}

/// What was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    flags: Vec<(&'static str, String)>,
    /// What stands without a flag's name.
    pub(crate) words: Vec<String>,
    /// What stands after `--`.
    pub(crate) command: Vec<String>,
}

impl Args {
    /// Sorts `args`; an unknown flag and a missing value are errors.
    pub(crate) fn parse(known: &[&[Flag]], args: &[String]) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if arg == "--" {
                parsed.command = rest.cloned().collect();
                break;
            }
            let Some(name) = arg.strip_prefix("--") else {
                if arg.len() > 1 && arg.starts_with('-') {
                    return Err(unknown(arg, known));
                }
                parsed.words.push(arg.clone());
                continue;
            };
            let (name, inline) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let flag = known.iter().copied().flatten().find(|flag| flag.name == name);
            let flag = flag.ok_or_else(|| unknown(&format!("--{name}"), known))?;
            let value = match (flag.value.is_empty(), inline) {
                (true, None) => String::new(),
                (true, Some(_)) => return Err(format!("--{name} takes no value")),
                (false, Some(value)) => value,
                (false, None) => {
                    rest.next().cloned().ok_or_else(|| format!("--{name} needs {}", flag.value))?
                }
            };
            parsed.flags.push((flag.name, value));
        }
        Ok(parsed)
    }

    /// Gives a flag once more.
    pub(crate) fn add(&mut self, name: &'static str, value: String) {
        self.flags.push((name, value));
    }

    /// The command after `--`, or what is missing. Nothing else may stand before it but flags: it would be passed over in silence.
    pub(crate) fn program(&self, command: &str) -> Result<&[String], String> {
        match (self.words.as_slice(), self.command.as_slice()) {
            ([], []) => {
                Err(format!("which program? accord-conformance {command} [flags] -- PROGRAM [its arguments]"))
            }
            ([], program) => Ok(program),
            (words, program) => {
                let whole = [words, program].concat().join(" ");
                Err(format!(
                    "the program's command stands behind `--`: accord-conformance {command} [flags] -- {whole}"
                ))
            }
        }
    }

    /// Whether the flag was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(given, _)| *given == name)
    }

    /// The flag's last value.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// All values of a flag that may be repeated.
    pub(crate) fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        self.flags.iter().filter(move |(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// All flags whose name starts so, without that start.
    pub(crate) fn starting(&self, prefix: &'static str) -> impl Iterator<Item = (&'static str, &str)> {
        self.flags.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// The flags by which one check of this run can be run again: all but those that pick checks and write reports.
    pub(crate) fn again(&self) -> Vec<String> {
        const LEFT_OUT: [&str; 13] = [
            "only",
            "no-scenario",
            "jobs",
            "all",
            "no-progress",
            "known",
            "write-known",
            "html",
            "json",
            "junit",
            "record",
            "strict",
            "permission",
        ];
        let kept = self.flags.iter().filter(|(name, _)| !LEFT_OUT.contains(name));
        kept.flat_map(|(name, value)| {
            let value = Some(value.clone()).filter(|value| !value.is_empty());
            std::iter::once(format!("--{name}")).chain(value)
        })
        .collect()
    }

    /// A number of seconds, fractions allowed.
    pub(crate) fn seconds(&self, name: &str, default: f64) -> Result<std::time::Duration, String> {
        let seconds = match self.value(name) {
            Some(text) => {
                text.parse().map_err(|_| format!("--{name} needs a number of seconds, not {text}"))?
            }
            None => default,
        };
        std::time::Duration::try_from_secs_f64(seconds).map_err(|error| format!("--{name}: {error}"))
    }
}

/// The complaint about a flag that is not there.
fn unknown(given: &str, known: &[&[Flag]]) -> String {
    let names: Vec<String> = known.iter().copied().flatten().map(|flag| format!("--{}", flag.name)).collect();
    let hint = super::near::hint(given, names.iter().map(String::as_str));
    let ours = if hint.is_empty() { "; --help lists those there are" } else { "" };
    format!("there is no flag {given}{hint}{ours} (what belongs to your program stands behind `--`)")
}
