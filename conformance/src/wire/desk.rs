//! How the kit, as a client, answers what an agent asks: permissions, files, forms, and the rest with -32601.

mod terminals;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub(crate) use self::terminals::Terminals;

/// The policy, and what is still open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk {
    /// The answer to permission requests.
    pub(crate) permission: Permission,
    /// The answer to forms and URLs; null cancels.
    pub(crate) elicitation: Value,
    /// The folder whose files are served; without one, `fs/*` is refused as unknown.
    pub(crate) files: Option<PathBuf>,
    /// Answer `fs/*` with an error instead.
    pub(crate) files_fail: bool,
    /// Answer `fs/write_text_file` with null, as older documents said.
    pub(crate) null_results: bool,
    /// The terminals, if the kit plays a client that has some.
    pub(crate) terminals: Option<Terminals>,
    /// Requests that were not answered, by policy.
    pub(crate) held: Vec<(Value, String, Value)>,
    /// Permission requests seen so far.
    pub(crate) permissions_asked: usize,
}

/// How permission requests are answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Permission {
    /// The first option that allows once, else any that allows.
    #[default]
    Allow,
    /// The first option that allows for good.
    AllowAlways,
    /// The first option that rejects.
    Reject,
    /// The outcome `cancelled`.
    Cancelled,
    /// A JSON-RPC error.
    Error,
    /// An option that was not offered.
    NotOffered,
    /// A result that is no outcome.
    Malformed,
    /// No answer; the request is kept in `held`.
    Hold,
}

impl Desk {
    /// The line that answers a request, or none if the policy is to leave it open.
    pub(crate) fn reply(&mut self, id: &Value, method: &str, params: &Value) -> Option<Value> {
        let outcome = match method {
            "session/request_permission" => self.permit(id, method, params)?,
            "elicitation/create" if self.elicitation.is_null() => Ok(json!({"action": "cancel"})),
            "elicitation/create" => Ok(self.elicitation.clone()),
            "fs/read_text_file" | "fs/write_text_file" if self.files_fail => {
                Err(json!({"code": -32603, "message": "the disk is on fire"}))
            }
            "fs/read_text_file" if self.files.is_some() => self.read(params),
            "fs/write_text_file" if self.files.is_some() => self.write(params),
            _ if method.starts_with("terminal/") && self.terminals.is_some() => {
                self.terminals.as_mut().map_or(Ok(Value::Null), |terminals| terminals.serve(method, params))
            }
            _ => Err(json!({"code": -32601, "message": "method not found"})),
        };
        Some(match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    fn permit(&mut self, id: &Value, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        self.permissions_asked += 1;
        let chosen = match self.permission {
            Permission::Hold => {
                self.held.push((id.clone(), method.to_owned(), params.clone()));
                return None;
            }
            Permission::Error => return Some(Err(json!({"code": -32603, "message": "no answer to be had"}))),
            Permission::Malformed => return Some(Ok(json!({"outcome": {"outcome": 5}}))),
            Permission::NotOffered => Some(json!("accord-not-offered")),
            Permission::Cancelled => None,
            Permission::Allow => option(params, &["allow_once", "allow_always"]),
            Permission::AllowAlways => option(params, &["allow_always", "allow_once"]),
            Permission::Reject => option(params, &["reject_once", "reject_always"]),
        };
        Some(Ok(match chosen {
            Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        }))
    }

    fn read(&self, params: &Value) -> Result<Value, Value> {
        let text = fs::read_to_string(self.inside(params)?)
            .map_err(|error| json!({"code": -32002, "message": error.to_string()}))?;
        let first =
            usize::try_from(params["line"].as_u64().unwrap_or(1).saturating_sub(1)).unwrap_or_default();
        let limit = params["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        let lines = text.split_inclusive('\n').skip(first);
        let content: String = lines.take(limit.unwrap_or(usize::MAX)).collect();
        Ok(json!({"content": content}))
    }

    fn write(&self, params: &Value) -> Result<Value, Value> {
        let content = params["content"].as_str().unwrap_or_default();
        fs::write(self.inside(params)?, content)
            .map(|()| if self.null_results { Value::Null } else { json!({}) })
            .map_err(|error| json!({"code": -32603, "message": error.to_string()}))
    }

    /// The path, if it lies in the folder that is served.
    fn inside(&self, params: &Value) -> Result<PathBuf, Value> {
        let path = Path::new(params["path"].as_str().unwrap_or_default());
        let root = self.files.as_deref().unwrap_or(Path::new("/nonexistent"));
        let climbs = path.components().any(|part| part.as_os_str() == "..");
        if path.starts_with(root) && !climbs {
            Ok(path.to_owned())
        } else {
            Err(json!({"code": -32602, "message": "the path is outside the session's folder"}))
        }
    }
}

/// The id of the first option of the most wanted kind.
fn option(params: &Value, kinds: &[&str]) -> Option<Value> {
    let options = params["options"].as_array()?;
    let of_kind = |kind: &&str| options.iter().find(|option| option["kind"] == **kind);
    kinds.iter().find_map(of_kind).map(|option| option["optionId"].clone())
}
