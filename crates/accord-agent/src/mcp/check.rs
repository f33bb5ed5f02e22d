//! What can be wrong with a declaration before anything is started. No value of it is ever repeated in an error.

use std::{collections::HashSet, path::Path};

use accord_protocol::v1::{EnvVariable, HttpHeader, McpServer};

use crate::handler::Error;

const ADDRESS: &str = if cfg!(feature = "mcp-tls") {
    "an http or https address"
} else {
    "an http address: this agent was built without TLS"
};
/// The longest name of a server.
const LONGEST_NAME: usize = 128;

/// The name under which a server's tools are known in its session.
pub(super) fn normalised(name: &str) -> String {
    let word = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    name.trim().chars().map(word).collect()
}

/// Everything about the declarations that can be judged by looking at them.
///
/// # Errors
/// `-32602` with the path of the first field that is wrong.
pub(crate) fn check(servers: &[McpServer]) -> Result<(), Error> {
    let mut names = HashSet::new();
    for (number, server) in servers.iter().enumerate() {
        let at = format!("mcpServers[{number}]");
        let name = match server {
            McpServer::Stdio(stdio) => {
                ensure(
                    is_program(&stdio.command),
                    || format!("{at}.command"),
                    "the absolute path of a program",
                )?;
                for (arg, text) in stdio.args.iter().enumerate() {
                    ensure(!text.contains('\0'), || format!("{at}.args[{arg}]"), "text without NUL")?;
                }
                env(&at, &stdio.env)?;
                &stdio.name
            }
            McpServer::Http(http) => {
                ensure(is_http(&http.url), || format!("{at}.url"), ADDRESS)?;
                headers(&at, &http.headers)?;
                &http.name
            }
            McpServer::Sse(sse) => &sse.name,
            _ => return Err(Error::invalid_params(format!("{at}.type"), "a type that this agent offers")),
        };
        let fits = is_plain(name) && name.len() <= LONGEST_NAME;
        ensure(fits, || format!("{at}.name"), "a name of 1 to 128 bytes")?;
        let new = names.insert(normalised(name));
        ensure(new, || format!("{at}.name"), "a name that no other server of the session has")?;
    }
    Ok(())
}

fn env(at: &str, env: &[EnvVariable]) -> Result<(), Error> {
    for (number, variable) in env.iter().enumerate() {
        let named = is_plain(&variable.name) && !variable.name.contains('=');
        ensure(named, || format!("{at}.env[{number}].name"), "a name without `=`")?;
        let value = !variable.value.contains('\0');
        ensure(value, || format!("{at}.env[{number}].value"), "text without NUL")?;
    }
    Ok(())
}

fn headers(at: &str, headers: &[HttpHeader]) -> Result<(), Error> {
    for (number, header) in headers.iter().enumerate() {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let named = !header.name.is_empty() && header.name.bytes().all(token);
        ensure(named, || format!("{at}.headers[{number}].name"), "a header name")?;
        let value = header.value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        ensure(value, || format!("{at}.headers[{number}].value"), "visible ASCII")?;
    }
    Ok(())
}

/// Clients are to send an absolute path, and many send `npx`: a bare name is looked for on the `PATH`. A relative path would
/// mean another program in every folder.
fn is_program(command: &str) -> bool {
    let path = Path::new(command);
    let bare = path.file_name() == Some(path.as_os_str());
    is_plain(command) && (path.is_absolute() || bare)
}

fn is_plain(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0')
}

fn is_http(url: &str) -> bool {
    let tls = url.strip_prefix("https://").filter(|_| cfg!(feature = "mcp-tls"));
    let rest = url.strip_prefix("http://").or(tls);
    // The library reads more into an address than it says: it skips slashes and cuts out line ends.
    reqwest::Url::parse(url).is_ok()
        && rest.is_some_and(|rest| {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            !host.is_empty() && !url.chars().any(|letter| letter.is_whitespace() || letter.is_control())
        })
}

fn ensure(holds: bool, path: impl FnOnce() -> String, expected: &str) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::invalid_params(path(), expected)) }
}

#[cfg(test)]
mod tests {
    use accord_protocol::v1::{EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio};

    use super::check;

    fn stdio(name: &str) -> McpServerStdio {
        McpServerStdio::new(name, "/bin/mcp", [], [])
    }

    fn http(url: &str) -> McpServerHttp {
        McpServerHttp::new("web", url, [])
    }

    /// The path of the field that is refused.
    fn refused(servers: &[McpServer]) -> String {
        let error = check(servers).expect_err("a refusal");
        let data: serde_json::Value = serde_json::from_str(error.data.expect("data").get()).expect("JSON");
        data["path"].as_str().expect("a path").to_owned()
    }

    // D11, ACPX-MCP-009
    #[test]
    fn a_bad_declaration_is_refused_by_its_field() {
        let good = [stdio("a").into(), stdio("b").into(), http("http://localhost:1/mcp").into()];
        assert!(check(&good).is_ok());
        for relative in ["", " ", "..", "./server", "../server", "bin/server", "/bin/a\0b"] {
            let mut command = stdio("a");
            command.command = relative.into();
            assert_eq!(refused(&[command.into()]), "mcpServers[0].command", "{relative}");
        }
        let mut bare = stdio("a");
        bare.command = "npx".into();
        assert!(check(&[bare.into()]).is_ok());
        assert_eq!(refused(&[stdio("").into()]), "mcpServers[0].name");
        assert_eq!(refused(&[stdio("My Files").into(), stdio("my_files").into()]), "mcpServers[1].name");
        let mut env = stdio("a");
        env.env = vec![EnvVariable::new("GOOD", "x"), EnvVariable::new("A=B", "secret")];
        assert_eq!(refused(&[env.into()]), "mcpServers[0].env[1].name");
        for url in [
            "ftp://x",
            "http://",
            "http:///path",
            "http://a b",
            "http://[::1",
            "http://x:99999",
            "http://a@",
            "",
        ] {
            assert_eq!(refused(&[http(url).into()]), "mcpServers[0].url", "{url}");
        }
        let mut headers = http("http://x");
        headers.headers = vec![HttpHeader::new("Authorization", "Bearer x\r\nEvil: y")];
        let error = check(&[headers.into()]).expect_err("a refusal");
        assert!(!format!("{error:?}").contains("Bearer"));
    }
}
