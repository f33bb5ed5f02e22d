//! The agent: a loop that asks the model, runs the tools it asks for, and asks again, on whatever thread it is called on.

use std::sync::Arc;

use accord_agent::{
    blocking::{
        ApprovalSlot, BlockingAgent, BlockingSession, Callbacks, Compacting, Failure, Login, Look, Part,
        Prompt, Reply, Setup, Step, ToolTable, Usage,
    },
    cli::Environment,
    protocol::v1::{Implementation, PromptCapabilities, StopReason},
    runtime::{Catalogue, Choice},
};
use serde_json::{Value, json};

use crate::{
    config::Config,
    model::{Answer, Delta, End, Message, Request, Role},
    tools::{self, Toolbox},
};

/// How many times a turn may ask the model.
const MOST_STEPS: usize = 50;
/// How many of the latest messages `/compact` keeps.
const KEPT: usize = 6;

/// A coding agent with a model behind it.
pub(crate) struct CodingAgent {
    environment: Arc<Environment>,
}

impl CodingAgent {
    pub(crate) fn new(environment: Environment) -> Self {
        Self { environment: Arc::new(environment) }
    }
}

impl BlockingAgent for CodingAgent {
    type Session = Conversation;

    fn info(&self) -> Implementation {
        crate::info()
    }

    fn create(&self, setup: &Setup) -> Result<Conversation, Failure> {
        let directories = setup.additional_directories.clone();
        Ok(Conversation {
            system: system_prompt(setup),
            tools: Toolbox::new(setup.cwd.clone(), directories, ApprovalSlot::default()),
            environment: self.environment.clone(),
            choice: setup.choice.clone(),
            messages: Vec::new(),
            tokens: None,
        })
    }

    fn catalogue(&self) -> Catalogue {
        Config::read(&self.environment).catalogue
    }

    fn tools(&self) -> ToolTable {
        ToolTable::standard().with("sample_edit", Look::Patch)
    }

    fn accepts(&self) -> PromptCapabilities {
        PromptCapabilities::new().image(Config::read(&self.environment).images)
    }

    fn login(&self) -> Login {
        Config::read(&self.environment).login()
    }
}

/// One conversation.
pub(crate) struct Conversation {
    system: String,
    tools: Toolbox,
    environment: Arc<Environment>,
    choice: Choice,
    messages: Vec<Message>,
    /// How much of the model's context the last answer said is used.
    tokens: Option<u64>,
}

impl BlockingSession for Conversation {
    fn run(&mut self, prompt: &Prompt, callbacks: &Callbacks) -> Result<Reply, Failure> {
        let before = self.messages.len();
        self.messages.push(Message::new(Role::User, content(prompt)));
        let ended = self.steps(callbacks);
        if ended.is_err() && self.messages.len() == before + 1 {
            // What the model never answered would be in the way of the next prompt. What its tools did is done, though.
            self.messages.truncate(before);
        }
        ended
    }

    fn history(&self) -> Vec<Value> {
        self.messages.iter().map(|message| serde_json::to_value(message).unwrap_or_default()).collect()
    }

    fn restore(&mut self, history: Vec<Value>) -> Result<(), Failure> {
        let messages = history.into_iter().map(serde_json::from_value).collect::<Result<_, _>>();
        self.messages = messages.map_err(Failure::failed)?;
        self.tokens = None;
        Ok(())
    }

    fn configure(&mut self, choice: &Choice) -> Result<(), Failure> {
        self.choice = choice.clone();
        Ok(())
    }

    fn approvals(&self) -> Option<&ApprovalSlot> {
        Some(self.tools.approvals())
    }

    fn compacting(&mut self) -> Option<&mut dyn Compacting> {
        Some(self)
    }

    fn usage(&self) -> Option<Usage> {
        self.tokens.map(|used| Usage::new(used, Config::read(&self.environment).window))
    }
}

impl Conversation {
    fn steps(&mut self, callbacks: &Callbacks) -> Result<Reply, Failure> {
        for _ in 0..MOST_STEPS {
            let answer = self.ask(callbacks)?;
            if callbacks.is_cancelled() {
                self.keep(&answer, |_| "cancelled".to_owned());
                return Ok(Reply::done());
            }
            let stop = match answer.end {
                End::Limit => Some(StopReason::MaxTokens),
                End::Refusal => Some(StopReason::Refusal),
                End::Complete if answer.calls.is_empty() => Some(StopReason::EndTurn),
                End::Complete => None,
            };
            if let Some(stop) = stop {
                let text = Answer { calls: Vec::new(), ..answer };
                self.keep(&text, |_| String::new());
                return Ok(Reply::text(text.text).stopped(stop));
            }
            let tools = &self.tools;
            let results: Vec<String> = answer
                .calls
                .iter()
                .map(|call| {
                    if callbacks.is_cancelled() {
                        return "cancelled".to_owned();
                    }
                    tools.run(&call.function.name, &call.arguments(), callbacks)
                })
                .collect();
            self.keep(&answer, |index| results[index].clone());
            callbacks.step(&Step::new().reasoning(answer.reasoning));
        }
        Ok(Reply::done().stopped(StopReason::MaxTurnRequests))
    }

    fn ask(&mut self, callbacks: &Callbacks) -> Result<Answer, Failure> {
        let system = Message::new(Role::System, self.system.as_str());
        let messages: Vec<Message> = std::iter::once(system).chain(self.messages.iter().cloned()).collect();
        let mut tools = tools::descriptions();
        tools.extend(callbacks.mounted_tools().into_iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            } })
        }));
        let config = Config::read(&self.environment);
        let request = self.request(&config, &messages, &tools);
        let mut hear = |delta: Delta<'_>| match delta {
            Delta::Text(text) => callbacks.text(text),
            Delta::Reasoning(text) => callbacks.thinking(text),
        };
        let answer = config.model().answer(&request, &mut hear, callbacks.cancel())?;
        self.tokens = answer.tokens.or(self.tokens);
        Ok(answer)
    }

    /// The model of the session, or, where it was opened before there was any, the first there is now.
    fn request<'a>(&'a self, config: &'a Config, messages: &'a [Message], tools: &'a [Value]) -> Request<'a> {
        let route = self.choice.route.as_ref();
        Request {
            provider: route.map_or("server", |route| &route.provider),
            model: route.map(|route| &*route.model).or(config.models().first().copied()).unwrap_or_default(),
            effort: self.choice.effort.as_deref(),
            messages,
            tools,
        }
    }

    /// Adds an answer and the results of its calls: a call without a result would be refused by the next request.
    fn keep(&mut self, answer: &Answer, result: impl Fn(usize) -> String) {
        if answer.text.is_empty() && answer.calls.is_empty() {
            return;
        }
        let mut message = Message::new(Role::Assistant, answer.text.as_str());
        message.tool_calls.clone_from(&answer.calls);
        self.messages.push(message);
        for (index, call) in answer.calls.iter().enumerate() {
            let mut message = Message::new(Role::Tool, result(index));
            message.tool_call_id = Some(call.id.clone());
            self.messages.push(message);
        }
    }
}

impl Compacting for Conversation {
    /// Asks the model for a summary, and keeps it with the latest messages.
    fn compact(&mut self, callbacks: &Callbacks) -> Result<String, Failure> {
        // A tool's result can't stand without the call before it: what is kept begins with a user's message.
        let from = self.messages.len().saturating_sub(KEPT);
        let from = (from..self.messages.len()).find(|index| self.messages[*index].role == Role::User);
        let from = from.unwrap_or(self.messages.len());
        if from == 0 {
            return Ok("The conversation is short enough.".to_owned());
        }
        let mut messages = self.messages[..from].to_vec();
        messages.push(Message::new(
            Role::User,
            "Summarise this conversation so that the work can go on from the summary alone: the task, what was \
             decided, what was done to which files, what is left.",
        ));
        let config = Config::read(&self.environment);
        let request = self.request(&config, &messages, &[]);
        let answer = config.model().answer(&request, &mut |_| {}, callbacks.cancel())?;
        if callbacks.is_cancelled() || answer.end != End::Complete || answer.text.trim().is_empty() {
            return Err(Failure::failed("the model gave no whole summary; the conversation is as it was"));
        }
        let summary =
            Message::new(Role::User, format!("Summary of the conversation so far:\n{}", answer.text));
        self.messages.splice(..from, [summary]);
        self.tokens = None;
        Ok(format!("{from} messages became a summary."))
    }
}

/// A prompt's content as chat completions take it: a text, or a list where there are images.
fn content(prompt: &Prompt) -> Value {
    if prompt.parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return prompt.text().into();
    }
    let parts = prompt.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        Part::Image { mime_type, data } => Some(
            json!({ "type": "image_url", "image_url": { "url": format!("data:{mime_type};base64,{data}") } }),
        ),
        _ => None,
    });
    Value::Array(parts.collect())
}

fn system_prompt(setup: &Setup) -> String {
    format!(
        "You are a coding agent in an editor. You work in {} with the tools you are given: read before you change, \
         change as little as the task needs, and run what shows that it works. Say briefly what you did.",
        setup.cwd.display()
    )
}
