//! What an editor is shown of tools, by name.

use std::fs;

use serde_json::json;

use super::*;

fn renderer(cwd: &Path) -> Renderer {
    Renderer { table: ToolTable::standard(), limits: Limits::default(), cwd: cwd.to_owned() }
}

fn announced(renderer: &Renderer, name: &str, arguments: &Value) -> Value {
    let call = renderer.draw(name, arguments).announce("c", ToolCallStatus::Pending);
    serde_json::to_value(call).expect("JSON")
}

fn finished(renderer: &Renderer, name: &str, arguments: &Value, result: &ToolResult) -> Value {
    serde_json::to_value(renderer.draw(name, arguments).finish("c", result)).expect("JSON")
}

// H7
#[test]
fn names_and_arguments_become_kinds_titles_and_locations() {
    let renderer = renderer(Path::new("/w"));
    let table = [
        ("read_file", json!({"path": "src/a.rs", "offset": 7}), "read", "Read src/a.rs:7"),
        ("read_file", json!({"path": "/w/src/a.rs"}), "read", "Read src/a.rs"),
        ("write_file", json!({"path": "/etc/x", "content": ""}), "edit", "Write /etc/x"),
        ("patch", json!({"path": "b", "old_string": "x", "new_string": "y"}), "edit", "Edit b"),
        (
            "apply_patch",
            json!({"patch": "*** Update File: b\n*** Add File: c\n"}),
            "edit",
            "Edit b and 1 more",
        ),
        ("search_files", json!({"pattern": "fn main", "path": "src"}), "search", "Search fn main in src"),
        ("list_files", json!({"path": "/w"}), "search", "List ."),
        ("terminal", json!({"command": "cargo\n  test"}), "execute", "Run cargo test"),
        ("execute_code", json!({"code": "\n\nprint(1)\nx"}), "execute", "print(1)"),
        ("web_extract", json!({"urls": ["https://a", "b"]}), "fetch", "Fetch https://a"),
        ("todo", json!({}), "think", "Update the plan"),
        ("mcp__x__y", json!({"a": 1}), "other", "mcp__x__y"),
        ("read_file", json!({}), "read", "read_file"),
        ("shell", json!("{\"command\": \"ls\"}"), "execute", "Run ls"),
        ("shell", json!("ls -l"), "execute", "Run ls -l"),
        ("shell", json!(null), "execute", "shell"),
    ];
    for (name, arguments, kind, title) in table {
        let call = announced(&renderer, name, &arguments);
        assert_eq!(
            (call["kind"].as_str(), call["title"].as_str()),
            (Some(kind), Some(title)),
            "{name} {arguments}"
        );
        assert_eq!(call["name"], name);
    }
    let long = announced(&renderer, "shell", &json!({ "command": "x".repeat(1000) }));
    assert_eq!(long["title"].as_str().expect("a title").chars().count(), 80);
    let read = announced(&renderer, "read_file", &json!({"path": "../v/./a.rs", "line": 3}));
    assert_eq!(read["locations"], json!([{"path": "/v/a.rs", "line": 3}]));
}

// H7
#[test]
fn an_edit_is_the_diff_that_is_proposed_and_then_the_one_that_was_made() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("a.txt");
    fs::write(&file, "one\ntwo\n").expect("a file");
    let renderer = renderer(folder.path());
    let arguments = json!({ "path": "a.txt", "old_string": "two", "new_string": "three" });
    let drawing = renderer.draw("patch", &arguments);
    let call = serde_json::to_value(drawing.announce("c", ToolCallStatus::Pending)).expect("JSON");
    let diff =
        |old: Value, new: &str| json!([{ "type": "diff", "path": file, "oldText": old, "newText": new }]);
    assert_eq!(call["content"], diff(json!("one\ntwo\n"), "one\nthree\n"));
    fs::write(&file, "one\nthree\nformatted\n").expect("a file");
    let update = serde_json::to_value(drawing.finish("c", &ToolResult::ok("ok"))).expect("JSON");
    assert_eq!(
        update["content"],
        diff(json!("one\ntwo\n"), "one\nthree\nformatted\n"),
        "what really happened"
    );

    let failed = finished(&renderer, "patch", &arguments, &ToolResult::failed("no match"));
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["content"][0]["content"]["text"], "no match");

    fs::remove_file(&file).expect("it is there");
    let fresh = announced(&renderer, "write_file", &json!({ "path": "a.txt", "content": "new\n" }));
    let new = json!([{ "type": "diff", "path": file, "newText": "new\n" }]);
    assert_eq!(fresh["content"], new, "a new file has no old text");
}

// H7
#[test]
fn every_file_of_a_patch_gets_its_diff() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = |name: &str| folder.path().join(name);
    fs::write(place("a"), "a\n").expect("a file");
    fs::write(place("gone"), "g\n").expect("a file");
    let patch = "*** Begin Patch\n*** Update File: a\n-a\n+b\n*** Add File: n\n+n\n*** Delete File: gone\n*** End Patch";
    let renderer = renderer(folder.path());
    let drawing = renderer.draw("patch", &json!({ "patch": patch }));
    fs::write(place("a"), "b\n").expect("a file");
    fs::write(place("n"), "n\n").expect("a file");
    fs::remove_file(place("gone")).expect("it is there");
    let update = serde_json::to_value(drawing.finish("c", &ToolResult::ok("ok"))).expect("JSON");
    assert_eq!(
        update["content"],
        json!([
            { "type": "diff", "path": place("a"), "oldText": "a\n", "newText": "b\n" },
            { "type": "diff", "path": place("n"), "newText": "n\n" },
            { "type": "diff", "path": place("gone"), "oldText": "g\n", "newText": "" },
        ])
    );
    let unified = renderer
        .draw("apply_patch", &json!({ "diff": "--- a/x\t2026\n+++ b/x\t2026\n--- /dev/null\n+++ b/y\n" }));
    let call = serde_json::to_value(unified.announce("c", ToolCallStatus::Pending)).expect("JSON");
    assert_eq!(call["locations"], json!([{ "path": place("x") }, { "path": place("y") }]));
}

// H7
#[test]
fn large_and_strange_files_are_told_not_shown() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("big");
    let mut renderer = renderer(folder.path());
    renderer.limits = Limits::default().diff(100);
    fs::write(&file, "x".repeat(101)).expect("a file");
    for arguments in
        [json!({ "path": "big", "content": "small" }), json!({ "path": "new", "content": "y".repeat(101) })]
    {
        let call = announced(&renderer, "write_file", &arguments);
        assert!(
            call["content"][0]["content"]["text"].as_str().expect("text").contains("too large"),
            "{call}"
        );
    }
    #[cfg(unix)]
    {
        // A pipe without a writer would block whoever opened it.
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        announced(&renderer, "write_file", &json!({ "path": "pipe", "content": "x" }));
    }
}

// H7
#[test]
fn results_are_previews_cut_and_marked_with_the_whole_beside_them() {
    let mut renderer = renderer(Path::new("/w"));
    renderer.limits = Limits::default().shown(10).raw(1000);
    let text = |update: &Value| update["content"][0]["content"]["text"].as_str().expect("text").to_owned();

    let read = finished(&renderer, "read_file", &json!({ "path": "a" }), &ToolResult::ok("é".repeat(20)));
    assert_eq!(text(&read), "```\nééééé\n… (cut: 10 of 40 bytes shown)\n```");
    assert_eq!(read["rawOutput"], "é".repeat(20));
    let larger = finished(&renderer, "read_file", &json!({ "path": "a" }), &ToolResult::ok("é".repeat(600)));
    assert_eq!(larger["rawOutput"]["truncated"], true);
    assert_eq!(larger["rawOutput"]["bytes"], 1202);
    assert_eq!(larger["rawOutput"]["beginning"], "é".repeat(250));

    let output = json!({ "output": "no\n", "exit_code": 2 });
    let shell = finished(&renderer, "shell", &json!({ "command": "x" }), &ToolResult::from(output.clone()));
    assert_eq!((shell["status"].as_str(), &shell["rawOutput"]), (Some("failed"), &output));
    assert_eq!(text(&shell), "```console\n$ x\nno\n[exit status 2]\n```");
    let quiet =
        finished(&renderer, "shell", &json!({}), &ToolResult::from(json!({ "output": "", "exit_code": 0 })));
    assert_eq!((quiet["status"].as_str(), &quiet["content"]), (Some("completed"), &json!([])));

    let call = announced(&renderer, "mcp__a__b", &json!({ "long": "x".repeat(2000) }));
    assert_eq!(call["rawInput"]["truncated"], true);
    assert!(call["rawInput"].to_string().len() < 1000 && text(&call).len() < 100);
}

// H7
#[test]
fn a_change_of_any_size_is_not_made_only_to_be_shown() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("a"), "x".repeat(200_000)).expect("a file");
    let long = "y".repeat(200_000);
    let arguments = json!({"path": "a", "old_string": "x", "new_string": long, "replace_all": true});
    let call = announced(&renderer(folder.path()), "patch", &arguments);
    assert_eq!((&call["content"][0]["oldText"], &call["content"][0]["newText"]), (&json!("x"), &json!(long)));
}
