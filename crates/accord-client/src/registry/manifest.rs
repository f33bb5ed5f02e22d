//! Reads the public agent registry's manifests and turns one into a configured agent.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ConfiguredAgent;

/// One agent's manifest (`agent.json`), as the public agent registry publishes it.
///
/// Members this crate does not know are kept in [`other`](Manifest::other) and written back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// Unique identifier: lower-case letters, digits and hyphens.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Semantic version of the release the manifest describes.
    pub version: String,
    /// What the agent is, in a sentence.
    pub description: String,
    /// The ways to run it.
    pub distribution: Distribution,
    /// Everything else: repository, website, authors, licence, icon, and what is added later.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The ways a manifest offers to run its agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Distribution {
    /// An npm package, run by `npx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub npx: Option<Package>,
    /// A `PyPI` package, run by `uvx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uvx: Option<Package>,
    /// Archives by platform, for instance `linux-x86_64`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub binary: BTreeMap<String, Archive>,
}

/// A package that a package runner fetches and starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Package {
    /// The package's name, with its version where one is pinned.
    pub package: String,
    /// The command within the package, where it is not the package's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// Arguments after the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables to add.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// A downloadable archive for one platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Archive {
    /// Where the archive is.
    pub archive: String,
    /// Its SHA-256 in hexadecimal, where the manifest gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The program within the unpacked archive.
    pub cmd: String,
    /// Arguments after the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables to add.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Why a manifest is not usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is no manifest.
    #[error("not an agent manifest: {0}")]
    Malformed(#[source] serde_json::Error),
    /// The identifier has other characters than lower-case letters, digits and hyphens.
    #[error("the manifest's id must be lower-case letters, digits and hyphens, starting with a letter")]
    BadId,
    /// No way to run the agent fits: the manifest offers others.
    #[error("the manifest offers no {wanted} distribution (it offers: {})", offered.join(", "))]
    NotOffered {
        /// What was asked for.
        wanted: String,
        /// What the manifest has.
        offered: Vec<String>,
    },
    /// The program's path would leave the folder the archive was unpacked to.
    #[error("the manifest's program lies outside its archive")]
    OutsideArchive,
}

impl Manifest {
    /// Reads one manifest from its JSON text.
    ///
    /// # Errors
    /// [`ManifestError::Malformed`] for other text, [`ManifestError::BadId`] for an identifier the registry forbids.
    pub fn parse(json: &str) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_str(json).map_err(ManifestError::Malformed)?;
        if manifest.has_valid_id() { Ok(manifest) } else { Err(ManifestError::BadId) }
    }

    /// Reads the aggregated registry (`{"version": …, "agents": […]}`), skipping entries that are no manifests.
    ///
    /// # Errors
    /// [`ManifestError::Malformed`] if the text is not such an object.
    pub fn parse_catalogue(json: &str) -> Result<Vec<Self>, ManifestError> {
        #[derive(Deserialize)]
        struct Catalogue {
            agents: Vec<Value>,
        }
        let catalogue: Catalogue = serde_json::from_str(json).map_err(ManifestError::Malformed)?;
        let manifests =
            catalogue.agents.into_iter().filter_map(|entry| serde_json::from_value::<Self>(entry).ok());
        Ok(manifests.filter(Self::has_valid_id).collect())
    }

    /// How the agent is run through `npx`.
    ///
    /// # Errors
    /// [`ManifestError::NotOffered`] if the manifest has no npm package.
    pub fn npx(&self) -> Result<ConfiguredAgent, ManifestError> {
        let package = self.distribution.npx.as_ref().ok_or_else(|| self.not_offered("npx"))?;
        // Without `--yes` npx asks on standard input before it installs, and standard input is the wire.
        let mut args = vec!["--yes".to_owned()];
        args.extend(package.invocation("--package"));
        Ok(self.configured("npx".to_owned(), args, &package.env))
    }

    /// How the agent is run through `uvx`.
    ///
    /// # Errors
    /// [`ManifestError::NotOffered`] if the manifest has no `PyPI` package.
    pub fn uvx(&self) -> Result<ConfiguredAgent, ManifestError> {
        let package = self.distribution.uvx.as_ref().ok_or_else(|| self.not_offered("uvx"))?;
        Ok(self.configured("uvx".to_owned(), package.invocation("--from"), &package.env))
    }

    /// How the agent is run from its archive for `platform`, already unpacked to `folder`.
    ///
    /// Nothing is downloaded: fetch [`Archive::archive`], check [`Archive::sha256`] and unpack it first.
    ///
    /// # Errors
    /// [`ManifestError::NotOffered`] if there is none for the platform, [`ManifestError::OutsideArchive`] if the
    /// program's path is absolute or climbs out of the folder.
    pub fn binary(&self, platform: &str, folder: &Path) -> Result<ConfiguredAgent, ManifestError> {
        let target = self.distribution.binary.get(platform).ok_or_else(|| self.not_offered(platform))?;
        let program: PathBuf =
            Path::new(&target.cmd).components().filter(|part| *part != Component::CurDir).collect();
        if program.as_os_str().is_empty()
            || !program.components().all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(ManifestError::OutsideArchive);
        }
        let command = folder.join(program).to_string_lossy().into_owned();
        Ok(self.configured(command, target.args.clone(), &target.env))
    }

    /// The platform this program runs on, as manifests spell it, for instance `linux-x86_64`.
    #[must_use]
    pub fn this_platform() -> String {
        let system = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
        format!("{system}-{}", std::env::consts::ARCH)
    }

    fn has_valid_id(&self) -> bool {
        self.id.starts_with(|first: char| first.is_ascii_lowercase())
            && self.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    }

    fn configured(
        &self,
        command: String,
        args: Vec<String>,
        env: &BTreeMap<String, String>,
    ) -> ConfiguredAgent {
        let mut agent = ConfiguredAgent::new(&self.id, command);
        agent.args = args;
        agent.env.clone_from(env);
        agent
    }

    fn not_offered(&self, wanted: &str) -> ManifestError {
        let mut offered = Vec::new();
        offered.extend(self.distribution.npx.as_ref().map(|_| "npx".to_owned()));
        offered.extend(self.distribution.uvx.as_ref().map(|_| "uvx".to_owned()));
        offered.extend(self.distribution.binary.keys().cloned());
        ManifestError::NotOffered { wanted: wanted.to_owned(), offered }
    }
}

impl Package {
    /// The runner's arguments: the package alone, or the package behind `from` and a command within it.
    fn invocation(&self, from: &str) -> Vec<String> {
        let mut args = match &self.cmd {
            Some(cmd) => vec![from.to_owned(), self.package.clone(), cmd.clone()],
            None => vec![self.package.clone()],
        };
        args.extend(self.args.iter().cloned());
        args
    }
}
