//! What the subject agent offers to choose from: two providers, models of the same name, efforts of every kind.

use accord_agent::{
    protocol::v1::SessionMode,
    runtime::{Catalogue, Effort, Model, Provider, Switch},
};

/// The mode in which tools ask first.
pub(super) const ASK: &str = "ask";
/// The mode in which they do not.
pub(super) const AUTO: &str = "auto";
/// The switch that makes the agent wordy.
pub(super) const VERBOSE: &str = "verbose";

pub(super) fn catalogue() -> Catalogue {
    let [low, medium, high] =
        [("low", "Low"), ("medium", "Medium"), ("high", "High")].map(|(id, name)| Effort::new(id, name));
    let north = Provider::new(
        "north",
        "North",
        [
            Model::new("compass", "Compass")
                .efforts([low.clone(), medium.clone(), high.clone()])
                .default_effort("medium"),
            // No default of its own: the provider's is among the choices.
            Model::new("sextant", "Sextant").efforts([low, high]),
            Model::new("chart", "Chart").text_only(),
        ],
    );
    let south = Provider::new(
        "south",
        "South",
        [Model::new("compass", "Compass (South)"), Model::new("albatross", "Albatross").efforts([medium])],
    );
    Catalogue::new([north, south])
        .modes([SessionMode::new(ASK, "Ask first"), SessionMode::new(AUTO, "Do not ask")])
        .switches([Switch::new(VERBOSE, "Verbose", false)])
}
