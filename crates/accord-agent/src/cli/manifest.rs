//! The manifest by which agent registries list an agent: `agent.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a registry says of an agent, and how its users get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The agent's id: lower case letters, digits and hyphens, a letter first.
    pub id: String,
    /// The name people see.
    pub name: String,
    /// The released version, `major.minor.patch`.
    pub version: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Where its source is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Where it is documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Its licence, as an SPDX identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The ways to get it; at least one.
    pub distribution: Distribution,
}

/// The ways to get an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Distribution {
    /// An archive for each platform, by the names of [`PLATFORMS`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub binary: BTreeMap<String, BinaryTarget>,
    /// A package of npm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub npx: Option<Package>,
    /// A package of `PyPI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uvx: Option<Package>,
}

/// A program in an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BinaryTarget {
    /// Where the archive is.
    pub archive: String,
    /// Its SHA-256, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The program in it.
    pub cmd: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables it is started with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// A package that a package runner starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Package {
    /// The package, with its version.
    pub package: String,
    /// The program in it, where it is not named as the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables it is started with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// The platforms a binary distribution can name.
pub const PLATFORMS: &[&str] = &[
    "darwin-aarch64",
    "darwin-x86_64",
    "linux-aarch64",
    "linux-x86_64",
    "windows-aarch64",
    "windows-x86_64",
];

/// A manifest that a registry would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} of the manifest must be {expected}")]
#[non_exhaustive]
pub struct ManifestFault {
    /// The field.
    pub field: &'static str,
    /// What it must be.
    pub expected: &'static str,
}

impl Manifest {
    /// A manifest with what every registry asks for but a way to get the agent.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        version: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            version: version.into(),
            description: description.into(),
            repository: None,
            website: None,
            authors: Vec::new(),
            license: None,
            distribution: Distribution::default(),
        }
    }

    /// Adds the archive of one of the [`PLATFORMS`].
    #[must_use]
    pub fn binary(mut self, platform: impl Into<String>, target: BinaryTarget) -> Self {
        self.distribution.binary.insert(platform.into(), target);
        self
    }

    /// Checks what a registry checks: the id, the version, the texts, and that there is a way to get the agent.
    ///
    /// # Errors
    ///
    /// The first field that a registry would refuse.
    pub fn check(&self) -> Result<(), ManifestFault> {
        let fault = |field, expected| Err(ManifestFault { field, expected });
        let lower = |c: char| c.is_ascii_lowercase();
        if !self.id.starts_with(lower) || !self.id.chars().all(|c| lower(c) || c.is_ascii_digit() || c == '-')
        {
            return fault("id", "lower case letters, digits and hyphens, a letter first");
        }
        if self.name.is_empty() {
            return fault("name", "a name");
        }
        if !is_version(&self.version) {
            return fault("version", "major.minor.patch");
        }
        if self.description.is_empty() {
            return fault("description", "a sentence");
        }
        self.distribution.check()
    }
}

impl Distribution {
    fn check(&self) -> Result<(), ManifestFault> {
        let fault = |field, expected| Err(ManifestFault { field, expected });
        if self.binary.is_empty() && self.npx.is_none() && self.uvx.is_none() {
            return fault("distribution", "at least one of binary, npx and uvx");
        }
        for (platform, target) in &self.binary {
            if !PLATFORMS.contains(&platform.as_str()) {
                return fault("distribution.binary", "an object with the names of platforms");
            }
            if !target.archive.contains("://") {
                return fault("distribution.binary.archive", "a URL");
            }
            if target.cmd.is_empty() {
                return fault("distribution.binary.cmd", "a program");
            }
            let hash = target.sha256.as_deref().unwrap_or_default();
            if target.sha256.is_some()
                && (hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
            {
                return fault("distribution.binary.sha256", "64 hexadecimal digits");
            }
        }
        if [&self.npx, &self.uvx].into_iter().flatten().any(|package| package.package.is_empty()) {
            return fault("distribution.package", "a package");
        }
        Ok(())
    }
}

/// `1.2.3`, with anything after it that begins with no digit.
fn is_version(version: &str) -> bool {
    let mut parts = version.splitn(3, '.');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    number(parts.next())
        && number(parts.next())
        && parts.next().is_some_and(|patch| patch.starts_with(|first: char| first.is_ascii_digit()))
}
