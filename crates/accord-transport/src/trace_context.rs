//! W3C Trace Context in `_meta`, so that one trace spans both ends.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The members of `_meta` that carry a trace, as the protocol reserves them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceContext {
    /// The trace and the span that this request belongs to, such as `00-…-…-01`.
    pub traceparent: String,
    /// What tracing systems add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// What the application adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
}

impl TraceContext {
    /// A context with a `traceparent` alone.
    pub fn new(traceparent: impl Into<String>) -> Self {
        Self { traceparent: traceparent.into(), tracestate: None, baggage: None }
    }

    /// The context that a request's params carry.
    pub(crate) fn of(params: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: TraceContext,
        }
        serde_json::from_str::<Params>(params.get()).ok().map(|params| params.meta)
    }
}

/// Where the context of an outgoing request comes from.
#[derive(Clone)]
pub(crate) struct Source(Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>);

impl Source {
    pub(crate) fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        Self(Arc::new(current))
    }

    /// The params with the current context in their `_meta`, if there is one and they are an object. What the caller
    /// put there stays.
    pub(crate) fn stamp(&self, params: &impl Serialize) -> Option<Box<RawValue>> {
        let context = (self.0)()?;
        let Ok(Value::Object(mut params)) = serde_json::to_value(params) else { return None };
        let Ok(Value::Object(context)) = serde_json::to_value(context) else { return None };
        let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if meta.is_null() {
            *meta = Value::Object(Map::new());
        }
        let meta = meta.as_object_mut()?;
        for (name, value) in context {
            meta.entry(name).or_insert(value);
        }
        to_raw_value(&params).ok()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}
