#!/bin/bash
# Holds the kit against one of the programs of docs/verdicts.md: installs it at its pinned version, runs every check, writes reports.
# usage: verdicts.sh NAME [FLAG…]     flags go to accord-conformance; without a NAME the names are shown
#
# Everything lives under target/verdicts (or $VERDICTS_HOME). Agents with a scripted model, and acpx, need REAL_AGENTS: a folder with
# the install.sh, run.sh and mockllm.py of the kit of real agents.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
home=${VERDICTS_HOME:-$root/target/verdicts}
# What published agents need: a slow start, a turn of ten seconds, tools by the markers of the scripted model.
slow_agent=(--jobs "${JOBS:-1}" --timeout 60 --quiet 1)
marked=(--prompt-slow '[[slow:40]]' --prompt-stream '[[big:100000]]' --prompt-think '[[think]]' --prompt-read '[[read:{PATH}]]'
  --prompt-run '[[shell:{COMMAND}]]' --prompt-ask '[[ask]]' --prompt-plan '[[todo]]' --prompt-limit '[[maxtok]]'
  --prompt-fail '[[err:400]]')

die() {
  printf 'verdicts.sh: %s\n' "$*" >&2
  exit 2
}

# What names are there, told by the case below.
names() {
  sed -n 's/^  \([a-z-][a-z |-]*\)).*/\1/p' "${BASH_SOURCE[0]}" | tr -d ' ' | tr '|' '\n'
}

# python: the SDK's examples, from its source package, with the same release installed.
python() {
  local release
  release=$(grep -o '[0-9.]*$' "$here/python/requirements.txt")
  if [[ ! -d $home/python/examples ]]; then
    python3 -m venv "$home/python"
    "$home/python/bin/pip" install -q -r "$here/python/requirements.txt"
    "$home/python/bin/pip" download -q --no-deps --no-binary agent-client-protocol -d "$home/python" "agent-client-protocol==$release"
    tar xzf "$home"/python/*.tar.gz -C "$home/python" --strip-components 1
  fi
}

# typescript: releases since 2.0 leave their examples out, so the last ones that were published run on the pinned SDK.
typescript() {
  local to=$home/typescript
  if [[ ! -d $to/examples ]]; then
    mkdir -p "$to/v2"
    cp "$here/typescript/package.json" "$to"
    (cd "$to" && npm install --no-audit --no-fund --silent && npm pack --silent @agentclientprotocol/sdk@1.9.0 > /dev/null)
    tar xzf "$to"/*.tgz -C "$to" --strip-components 2 package/dist/examples
    printf 'export * from "@agentclientprotocol/sdk";\n' > "$to/acp.js"
    printf 'export * from "@agentclientprotocol/sdk/experimental/v2";\n' > "$to/v2/acp.js"
    # The example client starts `npx tsx agent.ts`.
    mkdir -p "$to/bin"
    printf '#!/bin/sh\nexec "$AGENT"\n' > "$to/bin/npx"
    chmod +x "$to/bin/npx"
  fi
}

# rust: the examples of the crate itself.
rust() {
  if [[ ! -x $home/rust/bin/simple_agent ]]; then
    cargo install agent-client-protocol --version 5.2.0 --root "$home/rust" --features stdio,process \
      --example simple_agent --example yolo_one_shot_client
  fi
}

# real NAME: one of the kit of real agents, and the model it talks to.
real() {
  [[ -x ${REAL_AGENTS:-}/install.sh ]] || die "$1 needs REAL_AGENTS, the folder of the kit of real agents"
  export REAL_AGENTS_HOME=$home/real
  "$REAL_AGENTS/install.sh" "$1"
  mkdir -p "$home/real/$1/state"
  # Its environment is its own, but for the mark by which the kit finds what an agent leaves behind.
  sed -e 's/for passed in /&ACCORD_CONFORMANCE_MARK /' -e "s#^source .*#source '$REAL_AGENTS/lib.sh'#" \
    "$REAL_AGENTS/run.sh" > "$home/real/run.sh"
  chmod +x "$home/real/run.sh"
  state=$(realpath --relative-to "$home/real/$1/state" /){STATE}
  if [[ -z ${MOCK_LLM_URL:-} ]]; then
    coproc MODEL { exec "$REAL_AGENTS/mockllm.py" --port 0 2> /dev/null; }
    trap 'kill "$MODEL_PID"' EXIT
    read -r port <&"${MODEL[0]}"
    export MOCK_LLM_URL=http://127.0.0.1:$port
  fi
}

# check agent|client FLAG… -- COMMAND…: one run, with its reports.
check() {
  mkdir -p "$home"
  local status=0
  "$kit" "$1" --html "$home/$name.html" --json "$home/$name.json" "${more[@]}" "${@:2}" || status=$?
  printf 'reports: %s\n' "$home/$name".{html,json}
  return "$status"
}

agent() {
  check agent --no-scenario "$@"
}

# published NAME FLAG…: an agent of the kit of real agents.
published() {
  real "$1"
  agent "${slow_agent[@]}" --env "REAL_AGENTS_PROFILE=$state" "${marked[@]}" "${@:2}" -- "$home/real/run.sh" "$1"
}

[[ $# -gt 0 ]] || { names; exit 2; }
name=$1
more=("${@:2}")
kit=${ACCORD_CONFORMANCE:-}
if [[ -z $kit ]]; then
  cargo build --quiet --manifest-path "$root/Cargo.toml" -p accord-conformance
  kit=$root/target/debug/accord-conformance
fi

case $name in
  python-agent) python && agent --prompt-echo '{TEXT}' -- "$home/python/bin/python" "$home/python/examples/agent.py" ;;
  python-echo) python && agent --prompt-echo '{TEXT}' -- "$home/python/bin/python" "$home/python/examples/echo_agent.py" ;;
  python-client) python && check client --input hello -- "$home/python/bin/python" "$home/python/examples/client.py" {AGENT} ;;
  python-gemini-client)
    python
    check client -- "$home/python/bin/python" "$home/python/examples/gemini.py" --gemini {AGENT} --prompt hello --yolo ;;
  typescript-agent)
    typescript && agent --prompt-slow Hello --prompt-tool Hello -- node "$home/typescript/examples/agent.js" ;;
  typescript-dual) typescript && agent -- node "$home/typescript/examples/dual-version-agent.js" ;;
  typescript-client)
    typescript
    check client --env AGENT={AGENT} --env "PATH=$home/typescript/bin:$PATH" --answer 1 -- \
      node "$home/typescript/examples/client.js" {AGENT}
    ;;
  rust-agent) rust && agent -- "$home/rust/bin/simple_agent" ;;
  rust-client) rust && check client -- "$home/rust/bin/yolo_one_shot_client" --command {AGENT} hello ;;
  opencode | qwen | claude-agent-acp | pi-acp) published "$name" --prompt-tool '[[write:{PATH}]]' ;;
  gemini) published "$name" --prompt-tool '[[write:{PATH}]]' --prompt-mcp '[[tool:mcp_kit_{TOOL}]]' ;;
  # Codex offers a model it does not know no tool but the shell.
  codex-acp | zed-codex-acp) published "$name" --prompt-tool '[[shell:echo {TEXT} > {PATH}]]' ;;
  acpx) real acpx && check client -- "$home/real/run.sh" acpx --agent {AGENT} --approve-all exec hello ;;
  *) die "there is no $name; there are: $(names | tr '\n' ' ')" ;;
esac
