//! What a server was given in confidence, kept out of whatever is told about the server.

use std::fmt;

use accord_protocol::v1::McpServer;

/// A shorter secret would blot out half of what is told.
const SHORTEST: usize = 4;
/// Of a header, each word that is so long may be the secret: `Bearer` is not.
const SHORTEST_WORD: usize = 8;

/// The values of a server's environment or headers, the longest first: one may be a part of another.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(server: &McpServer) -> Self {
        let mut secrets: Vec<String> = match server {
            McpServer::Stdio(stdio) => {
                stdio.env.iter().map(|variable| variable.value.as_str().to_owned()).collect()
            }
            McpServer::Http(http) => http
                .headers
                .iter()
                .flat_map(|header| {
                    let words =
                        header.value.as_str().split_whitespace().filter(|word| word.len() >= SHORTEST_WORD);
                    words.chain([header.value.as_str()])
                })
                .chain(password(&http.url))
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        secrets.retain(|secret| secret.len() >= SHORTEST);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// The length of the longest one, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }

    /// The text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "<hidden>"))
    }
}

/// The one in an address, as it is written there.
fn password(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    Some(user.split_once(':')?.1)
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use accord_protocol::v1::{EnvVariable, HttpHeader, McpServerHttp, McpServerStdio};

    use super::*;

    // ACPX-AUTH-014
    #[test]
    fn a_secret_that_begins_another_leaves_no_rest() {
        let env = [EnvVariable::new("A", "secret"), EnvVariable::new("B", "secretTAIL")];
        let secrets = Secrets::of(&McpServerStdio::new("a", "/bin/mcp", [], env).into());
        assert_eq!(secrets.hide("x secretTAIL secret"), "x <hidden> <hidden>");
        assert_eq!(secrets.longest(), 10);
    }

    // ACPX-AUTH-014
    #[test]
    fn the_word_of_a_header_is_hidden_alone_too() {
        let headers = [HttpHeader::new("Authorization", "Bearer s3cr3t-t0k3n")];
        let secrets = Secrets::of(&McpServerHttp::new("web", "http://localhost/", headers).into());
        assert_eq!(secrets.hide("bad s3cr3t-t0k3n for Bearer"), "bad <hidden> for Bearer");
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
        let secrets = Secrets::of(&McpServerHttp::new("web", "http://me:s3cr3t@host/?a=b@c:d", []).into());
        assert_eq!(secrets.hide("http://me:s3cr3t@host"), "http://me:<hidden>@host");
    }
}
