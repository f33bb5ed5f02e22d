//! `--only`: what is asked for by name has to exist, or a run of nothing would pass for ever.

use std::process::Command;

fn refused(side: &str, ids: &str) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_accord-conformance"))
        .args([side, "--only", ids, "--", "true", "{AGENT}"])
        .output()
        .expect("the kit is built");
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    String::from_utf8(ran.stderr).expect("text")
}

#[test]
fn a_requirement_that_does_not_exist_is_refused() {
    assert!(refused("agent", "ACP-INIT-001,ACPX-NOPE").contains("is called ACPX-NOPE"));
    assert!(refused("client", "BOGUS-*").contains("is called BOGUS-*"));
    // It is a requirement, but one of clients.
    assert!(refused("agent", "ACPX-MCP-008").contains("is called ACPX-MCP-008"));
}
