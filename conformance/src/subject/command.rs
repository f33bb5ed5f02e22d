//! The first words of a prompt, as what the turn is to do.

/// What a turn does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Ping,
    Echo(String),
    Stream {
        count: usize,
        size: usize,
    },
    Think(String),
    Tools(usize),
    Permit(usize),
    Write {
        path: String,
        text: String,
    },
    Read(String),
    Run(String),
    Mcp {
        tool: String,
        args: String,
    },
    Ask,
    Visit,
    Slow {
        milliseconds: u64,
    },
    History,
    Whoami,
    Usage,
    Plan,
    Commands,
    Title(String),
    Refuse,
    Limit,
    Requests,
    Fail(String),
    Stumble(String),
    Panic,
    Mode(String),
    Notice(String),
    Compact,
    Expire,
    Child(String),
    Print(String),
    Image,
    /// Not a command: echoed.
    Talk(String),
}

impl Command {
    /// A slash in front of a command is how a client sends those that were advertised.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let (word, rest) = split(text);
        let (first, second) = split(rest);
        let number = |text: &str, otherwise| text.parse().unwrap_or(otherwise);
        match word.strip_prefix('/').unwrap_or(word) {
            "ping" => Self::Ping,
            "echo" => Self::Echo(rest.to_owned()),
            "stream" => Self::Stream {
                count: usize::try_from(number(first, 1)).unwrap_or(1),
                size: usize::try_from(number(second, 1)).unwrap_or(1),
            },
            "think" => Self::Think(rest.to_owned()),
            "tools" => Self::Tools(usize::try_from(number(first, 1)).unwrap_or(1)),
            "permit" => Self::Permit(usize::try_from(number(first, 1)).unwrap_or(1)),
            "write" => Self::Write { path: first.to_owned(), text: second.to_owned() },
            "read" => Self::Read(rest.to_owned()),
            "run" => Self::Run(rest.to_owned()),
            "mcp" => Self::Mcp { tool: first.to_owned(), args: second.to_owned() },
            "ask" => Self::Ask,
            "visit" => Self::Visit,
            "slow" => Self::Slow { milliseconds: number(first, 1000) },
            "history" => Self::History,
            "whoami" => Self::Whoami,
            "usage" => Self::Usage,
            "plan" => Self::Plan,
            "commands" => Self::Commands,
            "title" => Self::Title(rest.to_owned()),
            "refuse" => Self::Refuse,
            "limit" => Self::Limit,
            "requests" => Self::Requests,
            "fail" => Self::Fail(rest.to_owned()),
            "stumble" => Self::Stumble(rest.to_owned()),
            "panic" => Self::Panic,
            "mode" => Self::Mode(first.to_owned()),
            "notice" => Self::Notice(rest.to_owned()),
            "compact" => Self::Compact,
            "expire" => Self::Expire,
            "child" => Self::Child(rest.to_owned()),
            "print" => Self::Print(rest.to_owned()),
            "image" => Self::Image,
            _ => Self::Talk(text.to_owned()),
        }
    }
}

/// The first word and what follows it.
fn split(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn the_first_word_decides() {
        assert_eq!(Command::parse(" echo  two words "), Command::Echo("two words".into()));
        assert_eq!(Command::parse("stream 3 64"), Command::Stream { count: 3, size: 64 });
        let written = Command::Write { path: "a.txt".into(), text: "two  words".into() };
        assert_eq!(Command::parse("write a.txt two  words"), written);
        assert_eq!(Command::parse("/title New"), Command::Title("New".into()));
        assert_eq!(Command::parse("hello there"), Command::Talk("hello there".into()));
        assert_eq!(Command::parse(""), Command::Talk(String::new()));
    }
}
