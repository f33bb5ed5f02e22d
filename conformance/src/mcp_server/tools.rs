//! The server's tools: echo, add, env, cwd, fail, slow.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::trace::Trace;

/// The handler behind the official SDK's server loop.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    name: String,
    trace: Trace,
}

impl Tools {
    pub(super) fn new(name: &str, trace: Trace) -> Self {
        Self { name: name.to_owned(), trace }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Result<String, String> {
        match tool {
            "echo" => text(arguments, "text"),
            "add" => Ok((number(arguments, "a")? + number(arguments, "b")?).to_string()),
            "env" => {
                let name = text(arguments, "name")?;
                std::env::var(&name).map_err(|_| format!("{name} is not set"))
            }
            "cwd" => std::env::current_dir()
                .map(|cwd| cwd.display().to_string())
                .map_err(|error| error.to_string()),
            "fail" => Err(text(arguments, "message").unwrap_or_else(|_| "failed on request".into())),
            "slow" => {
                let ms = number(arguments, "ms")?;
                let wait = u64::try_from(ms).map_err(|_| "ms must not be negative".to_owned())?;
                tokio::time::sleep(Duration::from_millis(wait)).await;
                Ok(format!("waited {ms} ms"))
            }
            other => Err(format!("no tool {other}")),
        }
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(self.name.clone(), env!("CARGO_PKG_VERSION"));
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.trace.event("initialize");
        if let Some(parts) = context.extensions.get::<http::request::Parts>() {
            let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
            self.trace.headers(&headers.collect());
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.trace.event("list tools");
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        self.trace.call(&request.name, &arguments);
        let result = match self.call(&request.name, &arguments).await {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }
}

fn tools() -> Vec<Tool> {
    let string = || json!({"type": "string"});
    let integer = || json!({"type": "integer"});
    vec![
        tool("echo", "Gives the text back", &json!({"text": string()})),
        tool("add", "Adds two integers", &json!({"a": integer(), "b": integer()})),
        tool("env", "Says the value of an environment variable", &json!({"name": string()})),
        tool("cwd", "Says the server's working directory", &json!({})),
        tool("fail", "Fails with the message", &json!({"message": string()})),
        tool("slow", "Answers after so many milliseconds", &json!({"ms": integer()})),
    ]
}

fn tool(name: &'static str, description: &'static str, properties: &Value) -> Tool {
    let required: Vec<&String> = properties.as_object().map(|all| all.keys().collect()).unwrap_or_default();
    let schema: Map<String, Value> = [
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.clone()),
        ("required".to_owned(), json!(required)),
    ]
    .into_iter()
    .collect();
    Tool::new(name, description, schema)
}

fn text(arguments: &Value, name: &str) -> Result<String, String> {
    arguments[name].as_str().map(str::to_owned).ok_or_else(|| format!("{name} must be a string"))
}

fn number(arguments: &Value, name: &str) -> Result<i64, String> {
    arguments[name].as_i64().ok_or_else(|| format!("{name} must be an integer"))
}
