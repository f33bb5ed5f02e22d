//! What messages are made of: text, images, audio, links and embedded resources.

use super::EmbeddedResourceResource;
use crate::open::{Maybe, from, record, strings, tagged};

tagged! {
    /// One piece of a message, as in MCP.
    ///
    /// Text and links may always be sent to an agent; image, audio and resource only where
    /// [`PromptCapabilities`](super::PromptCapabilities) says so.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub enum ContentBlock by "type" {
        /// Plain text or Markdown.
        "text" => Text(TextContent),
        /// A picture; in a prompt, needs `promptCapabilities.image`.
        "image" => Image(ImageContent),
        /// Sound; in a prompt, needs `promptCapabilities.audio`.
        "audio" => Audio(AudioContent),
        /// A reference to something the agent may fetch itself.
        "resource_link" => ResourceLink(ResourceLink),
        /// A resource with its contents; in a prompt, needs `promptCapabilities.embeddedContext`.
        "resource" => Resource(EmbeddedResource),
    }
}

from!(ContentBlock {
    Text(TextContent),
    Image(ImageContent),
    Audio(AudioContent),
    ResourceLink(ResourceLink),
    Resource(EmbeddedResource),
});

impl ContentBlock {
    /// A block of text.
    ///
    /// ```
    /// # use accord_protocol::v1::ContentBlock;
    /// assert_eq!(ContentBlock::text("hello").as_text(), Some("hello"));
    /// ```
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The text, if it is a block of text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

record! {
    /// Plain text or Markdown.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct TextContent {
        required {
            /// The text.
            strict text: String,
        }
        optional {
            /// How the content is meant to be used.
            lenient annotations: Maybe<Box<Annotations>>,
        }
    }
}

record! {
    /// A picture.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct ImageContent {
        required {
            /// The bytes in Base64.
            strict data: String,
            /// Their media type, such as `image/png`.
            strict mime_type: String,
        }
        optional {
            /// Where the picture comes from.
            lenient uri: Maybe<String>,
            /// How the content is meant to be used.
            lenient annotations: Maybe<Box<Annotations>>,
        }
    }
}

record! {
    /// Sound.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct AudioContent {
        required {
            /// The bytes in Base64.
            strict data: String,
            /// Their media type, such as `audio/wav`.
            strict mime_type: String,
        }
        optional {
            /// How the content is meant to be used.
            lenient annotations: Maybe<Box<Annotations>>,
        }
    }
}

record! {
    /// A reference to a resource which the receiver may fetch itself.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct ResourceLink {
        required {
            /// The resource's name, for people.
            strict name: String,
            /// Where the resource is.
            strict uri: String,
        }
        optional {
            /// A longer name, for people.
            lenient title: Maybe<String>,
            /// What the resource is.
            lenient description: Maybe<String>,
            /// Its media type, if known.
            lenient mime_type: Maybe<String>,
            /// Its size in bytes, if known.
            lenient size: Maybe<i64>,
            /// How the content is meant to be used.
            lenient annotations: Maybe<Box<Annotations>>,
        }
    }
}

record! {
    /// A resource with its contents.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct EmbeddedResource {
        required {
            /// The resource.
            strict resource: EmbeddedResourceResource,
        }
        optional {
            /// How the content is meant to be used.
            lenient annotations: Maybe<Box<Annotations>>,
        }
    }
}

record! {
    /// A resource that is text.
    pub struct TextResourceContents {
        required {
            /// Where the resource is.
            strict uri: String,
            /// What is in it.
            strict text: String,
        }
        optional {
            /// Its media type, if known.
            lenient mime_type: Maybe<String>,
        }
    }
}

record! {
    /// A resource that is bytes.
    pub struct BlobResourceContents {
        required {
            /// Where the resource is.
            strict uri: String,
            /// What is in it, in Base64.
            strict blob: String,
        }
        optional {
            /// Its media type, if known.
            lenient mime_type: Maybe<String>,
        }
    }
}

record! {
    /// Hints on whom a content is for and how much it matters.
    ///
    /// See [Content](https://agentclientprotocol.com/protocol/v1/content).
    pub struct Annotations {
        optional {
            /// Whom it is meant for.
            lenient audience: Maybe<Vec<Role>>,
            /// When the resource was last changed (ISO 8601).
            lenient last_modified: Maybe<String>,
            /// How much it matters, from 0 (may be left out) to 1 (must be seen).
            lenient priority: Maybe<f64>,
        }
    }
}

strings! {
    /// A party of the conversation.
    pub enum Role {
        /// The agent.
        Assistant = "assistant",
        /// The person at the client.
        User = "user",
    }
}
