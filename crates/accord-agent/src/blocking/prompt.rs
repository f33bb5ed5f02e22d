//! A prompt's content as a blocking agent takes it: one text, and the images.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use accord_protocol::v1::{ContentBlock, EmbeddedResourceResource, ResourceLink};

use super::cut::head;

/// The most of an attached file or resource that is put into a prompt, in bytes.
const MOST_ATTACHED: usize = 512 << 10;

/// What the user said in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The content in its order, texts joined where nothing lies between them.
    pub parts: Vec<Part>,
    /// The content as the client sent it.
    pub blocks: Vec<ContentBlock>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text, also what links and embedded resources came to.
    Text(String),
    /// An image; only for agents that accept images.
    Image {
        /// Its MIME type.
        mime_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A sound; only for agents that accept audio.
    Audio {
        /// Its MIME type.
        mime_type: String,
        /// Its bytes in base64.
        data: String,
    },
}

impl Prompt {
    /// Turns content blocks into parts. Reads the local files among the links that lie in one of the `roots`. Images inside
    /// resources stay images where the agent sees `images`.
    pub(super) fn of(blocks: Vec<ContentBlock>, roots: &[PathBuf], images: bool) -> Self {
        let mut parts = Vec::new();
        for block in &blocks {
            let part = match block {
                ContentBlock::Text(text) => Part::Text(text.text.clone()),
                ContentBlock::Image(image) => {
                    Part::Image { mime_type: image.mime_type.clone(), data: image.data.clone() }
                }
                ContentBlock::Audio(audio) => {
                    Part::Audio { mime_type: audio.mime_type.clone(), data: audio.data.clone() }
                }
                ContentBlock::ResourceLink(link) => Part::Text(linked(link, roots)),
                ContentBlock::Resource(embedded) => embedded_part(&embedded.resource, images),
                _ => continue,
            };
            match (parts.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) => {
                    before.push_str("\n\n");
                    before.push_str(&text);
                }
                (_, part) => parts.push(part),
            }
        }
        Self { parts, blocks }
    }

    /// All its text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n\n")
    }
}

/// The text of a prompt that is nothing but text: only such a one can be a slash command.
pub(super) fn only_text(blocks: &[ContentBlock]) -> Option<String> {
    let texts: Option<Vec<&str>> = blocks.iter().map(ContentBlock::as_text).collect();
    texts.map(|texts| texts.join("\n"))
}

fn linked(link: &ResourceLink, roots: &[PathBuf]) -> String {
    let name = match link.title.get() {
        Some(title) if *title != link.name => format!("{title} ({})", link.name),
        _ => link.name.clone(),
    };
    let body = local(&link.uri).filter(|path| inside(path, roots)).and_then(|path| read(&path));
    match body {
        Some(body) => attachment(&name, &link.uri, &body),
        None => format!("[Attached: {name}]\nURI: {}", link.uri),
    }
}

fn embedded_part(resource: &EmbeddedResourceResource, images: bool) -> Part {
    let name = resource.uri().rsplit('/').find(|part| !part.is_empty()).unwrap_or(resource.uri());
    match resource {
        EmbeddedResourceResource::TextResourceContents(text) => {
            Part::Text(attachment(name, &text.uri, &bounded(&text.text, text.text.len())))
        }
        EmbeddedResourceResource::BlobResourceContents(blob) => {
            let mime_type = blob.mime_type.get().map_or("application/octet-stream", String::as_str);
            if images && mime_type.starts_with("image/") {
                return Part::Image { mime_type: mime_type.to_owned(), data: blob.blob.clone() };
            }
            let size = blob.blob.trim_end_matches('=').len() * 3 / 4;
            Part::Text(attachment(name, &blob.uri, &format!("[{size} bytes of {mime_type} left out]")))
        }
        _ => Part::Text(format!("[Attached: {name}]\nURI: {}", resource.uri())),
    }
}

fn attachment(name: &str, uri: &str, body: &str) -> String {
    format!("[Attached: {name}]\nURI: {uri}\n\n{body}")
}

/// The path of a `file:` URI on this machine, or of a bare absolute path.
fn local(uri: &str) -> Option<PathBuf> {
    if uri.starts_with('/') {
        return Some(uri.into());
    }
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then(|| decoded(path.split(['?', '#']).next().unwrap_or(path)))
}

fn decoded(path: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Whether a path lies in one of the roots once every link in it is followed: a link must not lead out.
fn inside(path: &Path, roots: &[PathBuf]) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    roots.iter().filter_map(|root| root.canonicalize().ok()).any(|root| path.starts_with(root))
}

/// A plain text file's beginning; `None` for what is no text, and for what can't be read.
fn read(path: &Path) -> Option<String> {
    let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_ATTACHED as u64 + 4).read_to_end(&mut bytes).ok()?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The cut may lie within a character; anything else that is not UTF-8 is no text.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0'))
        .then(|| bounded(text.trim_start_matches('\u{feff}'), usize::try_from(size).unwrap_or(usize::MAX)))
}

fn bounded(text: &str, size: usize) -> String {
    if text.len() <= MOST_ATTACHED {
        return text.to_owned();
    }
    let kept = head(text, MOST_ATTACHED);
    format!("{kept}\n\n[cut: the first {} of {size} bytes]", kept.len())
}

#[cfg(test)]
mod tests {
    use accord_protocol::v1::{BlobResourceContents, EmbeddedResource, ImageContent, TextResourceContents};

    use super::*;

    fn link(uri: String) -> ContentBlock {
        ContentBlock::ResourceLink(ResourceLink::new("notes.txt", uri))
    }

    // H8
    #[test]
    fn links_are_read_inside_the_roots_and_named_outside() {
        let root = tempfile::tempdir().expect("a directory");
        let other = tempfile::tempdir().expect("a directory");
        let roots = [root.path().to_owned()];
        let within = root.path().join("a b.txt");
        std::fs::write(&within, "\u{feff}inside").expect("a file");
        std::fs::write(other.path().join("x"), "outside").expect("a file");
        let uri = format!("file://{}", within.display()).replace(' ', "%20");
        let told = Prompt::of(vec![link(uri.clone())], &roots, false).text();
        assert_eq!(told, format!("[Attached: notes.txt]\nURI: {uri}\n\ninside"));

        #[cfg(unix)]
        std::os::unix::fs::symlink(other.path().join("x"), root.path().join("way-out")).expect("a link");
        for uri in [
            format!("file://{}", other.path().join("x").display()),
            format!("file://{}/way-out", root.path().display()),
            format!("file://{}/../{}", root.path().display(), "x"),
            "https://example.org/notes.txt".to_owned(),
            format!("file://elsewhere{}", within.display()),
        ] {
            let told = Prompt::of(vec![link(uri.clone())], &roots, false).text();
            assert_eq!(told, format!("[Attached: notes.txt]\nURI: {uri}"));
        }
    }

    #[test]
    fn large_attachments_are_cut_and_say_so() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("large");
        std::fs::write(&file, "é".repeat(MOST_ATTACHED)).expect("a file");
        let uri = format!("file://{}", file.display());
        let told = Prompt::of(vec![link(uri)], &[root.path().to_owned()], false).text();
        let marked = format!("[cut: the first {MOST_ATTACHED} of {} bytes]", 2 * MOST_ATTACHED);
        assert!(told.ends_with(&marked), "{}", &told[told.len() - 60..]);
        std::fs::write(&file, [0xff, 0xfe, 0x00]).expect("a file");
        let told =
            Prompt::of(vec![link(format!("file://{}", file.display()))], &[root.path().to_owned()], false)
                .text();
        assert!(told.ends_with("large"), "no text, no body");
    }

    #[test]
    fn parts_keep_their_order_and_kinds() {
        let resource =
            |resource: EmbeddedResourceResource| ContentBlock::Resource(EmbeddedResource::new(resource));
        let blocks = vec![
            ContentBlock::text("look"),
            resource(TextResourceContents::new("file:///a/b.rs", "fn main() {}").into()),
            ContentBlock::Image(ImageContent::new("aWNv", "image/png")),
            resource(BlobResourceContents::new("x:/y.bin", "AAAA").into()),
            resource(BlobResourceContents::new("x:/y.gif", "R0lG").mime_type("image/gif".to_owned()).into()),
        ];
        let prompt = Prompt::of(blocks.clone(), &[], true);
        assert_eq!(prompt.blocks, blocks);
        let image = |mime: &str, data: &str| Part::Image { mime_type: mime.into(), data: data.into() };
        assert_eq!(
            prompt.parts,
            [
                Part::Text("look\n\n[Attached: b.rs]\nURI: file:///a/b.rs\n\nfn main() {}".into()),
                image("image/png", "aWNv"),
                Part::Text(
                    "[Attached: y.bin]\nURI: x:/y.bin\n\n[3 bytes of application/octet-stream left out]"
                        .into()
                ),
                image("image/gif", "R0lG"),
            ]
        );
        let blind = Prompt::of(blocks[4..].to_vec(), &[], false);
        assert_eq!(
            blind.parts,
            [Part::Text("[Attached: y.gif]\nURI: x:/y.gif\n\n[3 bytes of image/gif left out]".into())]
        );
        assert_eq!(only_text(&blocks), None);
        assert_eq!(only_text(&blocks[..1]).as_deref(), Some("look"));
    }
}
