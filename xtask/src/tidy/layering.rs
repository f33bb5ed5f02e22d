//! Which package may be built with which: an allow-list of names, so that a new dependency is a decision.

use super::Finding;
use crate::cargo::tree;

/// A package, the features it is looked at with, and every package it may be built with.
struct Layer {
    package: &'static str,
    features: &'static [&'static str],
    allowed: &'static [&'static [&'static str]],
}

/// What serde, `serde_json` and `serde_path_to_error` (the paths in error data) bring, and the crates their derives run at build time.
const SERDE: &[&str] = &[
    "itoa",
    "memchr",
    "proc-macro2",
    "quote",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "serde_path_to_error",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "zmij",
];
const TOKIO: &[&str] = &[
    "bytes",
    "cfg-if",
    "errno",
    "futures-core",
    "futures-sink",
    "libc",
    "log",
    "mio",
    "once_cell",
    "pin-project-lite",
    "signal-hook-registry",
    "socket2",
    "tokio",
    "tokio-macros",
    "tokio-util",
    "tracing",
    "tracing-attributes",
    "tracing-core",
    "bitflags",
    "linux-raw-sys",
    "rustix",
];

const LAYERS: &[Layer] = &[
    Layer { package: "accord-protocol", features: &[], allowed: &[SERDE] },
    Layer { package: "accord-peer", features: &[], allowed: &[SERDE, &["accord-protocol", "bytes"]] },
    Layer {
        package: "accord-transport",
        features: &[],
        allowed: &[SERDE, TOKIO, &["accord-protocol", "accord-peer"]],
    },
];

/// Looks at what each layer is really built with.
pub(crate) fn check() -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for layer in LAYERS {
        let built_with = tree(layer.package, layer.features)?;
        findings.extend(strangers(layer, &built_with));
    }
    for (package, other) in [("accord-client", "accord-agent"), ("accord-agent", "accord-client")] {
        if tree(package, &[])?.iter().any(|name| name == other) {
            findings
                .push(finding(package, &format!("depends on {other}; the two sides never know each other")));
        }
    }
    for name in tree("xtask", &[])? {
        if name.starts_with("accord-") {
            findings
                .push(finding("xtask", &format!("depends on {name}; it must build when our crates do not")));
        }
    }
    Ok(findings)
}

fn strangers(layer: &Layer, built_with: &[String]) -> Vec<Finding> {
    built_with
        .iter()
        .filter(|name| !layer.allowed.iter().any(|group| group.contains(&name.as_str())))
        .map(|name| finding(layer.package, &format!("is built with {name}, which its layer does not allow")))
        .collect()
}

fn finding(package: &str, what: &str) -> Finding {
    Finding { place: package.to_owned(), what: format!("{what} (xtask/src/tidy/layering.rs)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_outside_the_list_is_found() {
        let layer = Layer { package: "accord-peer", features: &[], allowed: &[SERDE] };
        let built_with = ["serde".to_owned(), "tokio".to_owned()];
        let found = strangers(&layer, &built_with);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.contains("tokio"), "{found:?}");
    }
}
