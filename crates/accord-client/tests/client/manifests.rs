//! The public agent registry's manifests: what they offer becomes a configured agent.

use std::path::Path;

use accord_client::registry::{Manifest, ManifestError};
use serde_json::{Value, json};

fn manifest(distribution: &Value) -> Manifest {
    let manifest = json!({
        "id": "some-agent", "name": "Some Agent", "version": "1.2.3", "description": "It codes.",
        "license": "MIT", "authors": ["A"], "distribution": distribution,
    });
    Manifest::parse(&manifest.to_string()).expect("the manifest is well formed")
}

// E24: packages are run by their runners, with the command in them where there is one.
#[test]
fn packages_are_run_by_their_runners() {
    let plain = manifest(&json!({
        "npx": {"package": "@some/agent@1.2.3", "args": ["--acp"], "env": {"A": "b"}},
        "uvx": {"package": "some-agent"},
    }));
    let npx = plain.npx().unwrap();
    assert_eq!((npx.name.as_str(), npx.command.as_str()), ("some-agent", "npx"));
    assert_eq!(npx.args, ["--yes", "@some/agent@1.2.3", "--acp"]);
    assert_eq!(npx.env["A"], "b");
    assert_eq!(plain.uvx().unwrap().args, ["some-agent"]);
    let named = manifest(&json!({
        "npx": {"package": "@some/agent", "cmd": "some", "args": ["acp"]},
        "uvx": {"package": "some", "cmd": "other", "args": ["x"]},
    }));
    assert_eq!(named.npx().unwrap().args, ["--yes", "--package", "@some/agent", "some", "acp"]);
    assert_eq!(named.uvx().unwrap().args, ["--from", "some", "other", "x"]);
}

// E24: an unpacked archive's program, which may not lead out of it.
#[test]
fn an_archives_program_stays_in_it() {
    let target = |cmd: &str| json!({"binary": {"linux-x86_64": {"archive": "https://a/b.tgz", "cmd": cmd, "args": ["serve"]}}});
    let agent = manifest(&target("./bin/agent")).binary("linux-x86_64", Path::new("/opt/agent")).unwrap();
    assert_eq!(
        (agent.command.as_str(), &agent.args[..]),
        ("/opt/agent/bin/agent", &["serve".to_owned()][..])
    );
    for outside in ["../agent", "/bin/sh", "bin/../../x", "."] {
        let error = manifest(&target(outside)).binary("linux-x86_64", Path::new("/opt/agent")).unwrap_err();
        assert!(matches!(error, ManifestError::OutsideArchive), "{outside}: {error:?}");
    }
    let error = manifest(&target("x")).npx().unwrap_err();
    assert_eq!(error.to_string(), "the manifest offers no npx distribution (it offers: linux-x86_64)");
    assert!(Manifest::this_platform().contains('-'));
}

// What a newer registry adds is kept; what is no manifest is skipped.
#[test]
fn a_catalogue_is_read_leniently() {
    let good = json!({"id": "a", "name": "A", "version": "1", "description": "d", "distribution": {"npx": {"package": "a"}}, "new": 1});
    let catalogue = json!({"version": "1.0.0", "agents": [good, {"id": "Bad Id", "name": "B"}, 7]});
    let manifests = Manifest::parse_catalogue(&catalogue.to_string()).unwrap();
    assert_eq!(manifests.len(), 1);
    assert_eq!(serde_json::to_value(&manifests[0]).unwrap(), good);
    let bad = good.to_string().replace("\"a\",\"name\"", "\"A b\",\"name\"");
    assert!(Manifest::parse(&bad).is_err() && Manifest::parse("{}").is_err());
}
