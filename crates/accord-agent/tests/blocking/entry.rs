//! What an agent program is started with: env file, manifest, questions.

use accord_agent::cli::{BinaryTarget, Console, EnvFileError, Environment, Manifest, PLATFORMS, Package};
use serde_json::{Value, json};

fn environment(file: &std::path::Path, outer: &[(&str, &str)]) -> Result<Environment, EnvFileError> {
    let outer = outer.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Environment::of(outer).with_file(file)
}

// H1
#[test]
fn an_env_file_lies_below_the_environment() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("env");
    let text = "\u{feff}# a comment\n\nA=1\nexport B = two words # remark\nC='it is # \\n'\nD=\"a \\\"b\\\" \\\\ c\"\nE=\nF=a=b\n";
    std::fs::write(&file, text).expect("a file");
    let environment = environment(&file, &[("A", "outer"), ("G", "")]).expect("a good file");
    let get = |name: &str| environment.get(name);
    assert_eq!(get("A").as_deref(), Some("outer"), "the process's own comes first");
    assert_eq!(get("B").as_deref(), Some("two words"));
    assert_eq!(get("C").as_deref(), Some("it is # \\n"));
    assert_eq!(get("D").as_deref(), Some("a \"b\" \\ c"));
    assert_eq!((get("E"), get("G"), get("H")), (None, None, None), "empty is none");
    assert_eq!(get("F").as_deref(), Some("a=b"));
    assert!(!format!("{environment:?}").contains("two words"), "values are secrets");
}

// H1
#[test]
fn a_bad_env_file_is_named_with_its_line_and_not_its_content() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("env");
    std::fs::write(&file, "A=1\nsecret words\n").expect("a file");
    let error = environment(&file, &[]).expect_err("line 2 is no assignment").to_string();
    assert!(error.contains("line 2") && error.contains("env") && !error.contains("secret"), "{error}");
    let missing = environment(&folder.path().join("none"), &[]).expect("a missing file is an empty one");
    assert_eq!(missing.get("A"), None);
    assert!(matches!(environment(folder.path(), &[]), Err(EnvFileError::Unreadable { .. })));
}

// H1, H11
#[test]
fn what_a_setup_stores_comes_back_and_is_the_owners_alone() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("deep/env");
    let mut environment = environment(&file, &[]).expect("nothing there yet");
    environment.store(&[("KEY", "a \"b\" \\ #c"), ("URL", "http://127.0.0.1:1/v1")]).expect("it is stored");
    std::fs::write(&file, std::fs::read_to_string(&file).expect("it is there") + "# kept\nOTHER=1\n")
        .expect("a file");
    environment.store(&[("URL", "http://127.0.0.1:2/v1")]).expect("it is stored");
    let again = Environment::of([]).with_file(&file).expect("a good file");
    assert_eq!(again.get("KEY").as_deref(), Some("a \"b\" \\ #c"));
    assert_eq!(again.get("URL").as_deref(), Some("http://127.0.0.1:2/v1"));
    assert_eq!(again.get("OTHER").as_deref(), Some("1"));
    let text = std::fs::read_to_string(&file).expect("it is there");
    assert_eq!((text.matches("URL=").count(), text.matches("# kept").count()), (1, 1));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    for (name, value) in [("BAD NAME", "x"), ("A", "two\nlines")] {
        assert!(matches!(environment.store(&[(name, value)]), Err(EnvFileError::Unwritable { .. })));
    }
    assert!(matches!(Environment::of([]).store(&[("A", "1")]), Err(EnvFileError::NoFile)));
}

// H1
#[test]
fn a_console_asks_until_it_has_an_answer() {
    let mut input = "\n custom \nbanana\n9\nB\nhush\n".as_bytes();
    let mut output = Vec::new();
    let mut console = Console::new(&mut input, &mut output);
    assert_eq!(console.ask("Name", "default").expect("an answer"), "default");
    assert_eq!(console.ask("Name", "default").expect("an answer"), "custom");
    assert_eq!(console.choose("Which", &["a", "b"]).expect("an answer"), 1);
    assert_eq!(console.ask_secret("Key").expect("an answer"), "hush");
    assert!(console.ask("More", "").is_err(), "the answers have ended");
    let asked = String::from_utf8(output).expect("text");
    assert!(asked.starts_with("Name [default]: ") && asked.contains("from 1 to 2"), "{asked}");
}

fn manifest() -> Manifest {
    let mut target = BinaryTarget::default();
    target.archive = "https://example.org/agent.tar.gz".into();
    target.cmd = "./agent".into();
    target.args = vec!["--acp".into()];
    Manifest::new("my-agent-2", "My agent", "1.2.3-rc.1", "It helps.").binary("linux-x86_64", target)
}

// H15
#[test]
fn a_manifest_is_what_registries_take() {
    let manifest = manifest();
    assert_eq!(manifest.check(), Ok(()));
    let written: Value = serde_json::to_value(&manifest).expect("JSON");
    assert_eq!(
        written,
        json!({
            "id": "my-agent-2",
            "name": "My agent",
            "version": "1.2.3-rc.1",
            "description": "It helps.",
            "distribution": { "binary": { "linux-x86_64": {
                "archive": "https://example.org/agent.tar.gz", "cmd": "./agent", "args": ["--acp"],
            } } },
        })
    );
    assert_eq!(serde_json::from_value::<Manifest>(written).expect("JSON"), manifest);
    assert_eq!(PLATFORMS.len(), 6);
}

// H15
#[test]
fn what_a_registry_would_refuse_is_refused_here() {
    type Break = fn(&mut Manifest);
    let faults: [(&str, Break); 9] = [
        ("id", |manifest| manifest.id = "2-agents".into()),
        ("id", |manifest| manifest.id = "My_Agent".into()),
        ("name", |manifest| manifest.name.clear()),
        ("version", |manifest| manifest.version = "1.2".into()),
        ("version", |manifest| manifest.version = "v1.2.3".into()),
        ("description", |manifest| manifest.description.clear()),
        ("distribution", |manifest| manifest.distribution.binary.clear()),
        ("distribution.binary", |manifest| {
            let target = BinaryTarget::default();
            manifest.distribution.binary.insert("amiga-68k".into(), target);
        }),
        ("distribution.package", |manifest| manifest.distribution.npx = Some(Package::default())),
    ];
    for (field, fault) in faults {
        let mut manifest = manifest();
        fault(&mut manifest);
        assert_eq!(manifest.check().expect_err(field).field, field);
    }
}
