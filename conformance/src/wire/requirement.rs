//! The table of requirements: what each id demands, of whom, how firmly, and where the specification says so.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

/// One requirement of ACP v1.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Requirement {
    /// Its id, such as `ACP-INIT-001` (of the official kit) or `ACPX-TR-007` (added).
    pub(crate) id: String,
    /// Who must do it.
    pub(crate) side: Side,
    /// How firmly it binds.
    pub(crate) tier: Tier,
    /// How the source words it: `MUST`, `SHOULD`, `SCHEMA`, `DERIVED`, `QUALITY`, …; `TCK` for the official kit's own.
    pub(crate) basis: String,
    /// The condition under which it applies, empty if always.
    pub(crate) gate: String,
    /// What is demanded.
    pub(crate) text: String,
    /// How to see it from outside.
    pub(crate) how: String,
    /// The page of the specification or the definition of the schema.
    pub(crate) source: String,
}

/// Who must do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    /// The agent.
    Agent,
    /// The client.
    Client,
    /// Agent and client alike.
    Both,
}

/// How firmly a requirement binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tier {
    /// Always.
    Mandatory,
    /// Once its gate holds.
    Capability,
    /// Reported, not decisive.
    Advisory,
    /// Recorded; any definite outcome is fine.
    Informational,
}

impl Tier {
    /// Whether a failure decides the verdict.
    pub(crate) fn decides(self) -> bool {
        matches!(self, Self::Mandatory | Self::Capability)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mandatory => "mandatory",
            Self::Capability => "capability",
            Self::Advisory => "advisory",
            Self::Informational => "informational",
        })
    }
}

impl Side {
    /// Whether a requirement of this side binds `side`.
    pub(crate) fn includes(self, side: Self) -> bool {
        self == Self::Both || self == side
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Both => "both",
        })
    }
}

/// All requirements, in the order of the table.
pub(crate) fn all() -> &'static [Requirement] {
    static ALL: OnceLock<Vec<Requirement>> = OnceLock::new();
    ALL.get_or_init(|| {
        let lines = include_str!("../../requirements.jsonl").lines();
        lines
            .map(|line| serde_json::from_str(line).expect("the table is embedded, and read by the tests"))
            .collect()
    })
}

/// The requirement with an id.
pub(crate) fn find(id: &str) -> Option<&'static Requirement> {
    static INDEX: OnceLock<BTreeMap<&str, &Requirement>> = OnceLock::new();
    let index = INDEX.get_or_init(|| all().iter().map(|each| (each.id.as_str(), each)).collect());
    index.get(id).copied()
}

/// Why a requirement is not checked on `side`, for those that can't be judged from outside.
pub(crate) fn unseen(side: Side) -> &'static BTreeMap<String, String> {
    static UNSEEN: OnceLock<BTreeMap<String, BTreeMap<String, String>>> = OnceLock::new();
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    let sides = UNSEEN.get_or_init(|| {
        toml::from_str(include_str!("../../unseen.toml"))
            .expect("the file is embedded, and read by the tests")
    });
    sides.get(&side.to_string()).unwrap_or(&NONE)
}
