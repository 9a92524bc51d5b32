//! Agents that misbehave, as scripts for the shell. `$1` is the output file, `$VICTIM` a directory that nobody may change,
//! `$TRIAL` the directory of the trial. The working directory is the workspace.

/// A script, and whether its trial may pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    pub(crate) passes: bool,
}

/// An attack after which the trial passes: the agent answers, and what else it does is harmless.
const fn harmless(name: &'static str, script: &'static str) -> Attack {
    Attack { name, script, passes: true }
}

/// An attack after which the trial is an error.
const fn refused(name: &'static str, script: &'static str) -> Attack {
    Attack { name, script, passes: false }
}

pub(crate) const ATTACKS: &[Attack] = &[
    // What is left in place of files.
    refused("output: pipe", "mkfifo $1"),
    refused(
        "output: socket",
        "python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' $1 || mkfifo $1",
    ),
    refused("output: directory", "mkdir $1"),
    refused("output: link to /dev/zero", "ln -s /dev/zero $1"),
    refused("output: link to a victim", "ln -s $VICTIM/file $1"),
    refused("output: circle of links", "ln -s b $1; ln -s output $(dirname $1)/b"),
    refused("output: 3 GB", "truncate -s 3G $1"),
    refused("output: nothing", "true"),
    refused("output: exit code", "ln -s $VICTIM/file $1; exit 3"),
    refused("output: killed", "echo done > $1; kill -9 $$"),
    refused("trajectory: pipe", "echo done > $1; mkfifo $EVALSUITE_TRAJECTORY_PATH"),
    refused("trajectory: link to /dev/zero", "echo done > $1; ln -s /dev/zero $EVALSUITE_TRAJECTORY_PATH"),
    refused(
        "trajectory: not JSON",
        "echo done > $1; head -c 100000 /dev/zero | tr '\\0' '\\377' > $EVALSUITE_TRAJECTORY_PATH",
    ),
    refused(
        "trajectory: deep JSON",
        "echo done > $1; head -c 1000000 /dev/zero | tr '\\0' '[' > $EVALSUITE_TRAJECTORY_PATH",
    ),
    refused(
        "answer: file of the machine",
        r#"echo '{"output":[{"role":"assistant","content":[{"type":"file","value":"/etc/passwd"}]}]}' > $1"#,
    ),
    refused(
        "answer: file above",
        r#"echo '{"output":[{"role":"assistant","content":[{"type":"file","value":"../../../../../x"}]}]}' > $1"#,
    ),
    refused(
        "answer: pipe",
        r#"mkfifo p; echo '{"output":[{"role":"assistant","content":[{"type":"file","value":"p"}]}]}' > $1"#,
    ),
    harmless("answer: less than 0 dollars", r#"echo '{"text":"done","cost_usd":-1}' > $1"#),
    refused("answer: no UTF-8", "printf 'done \\377\\376' > $1"),
    harmless("answer: 10 MB", "echo done > $1; head -c 10000000 /dev/zero | tr '\\0' x >> $1"),
    harmless("output: 300 MB on standard output", "head -c 300000000 /dev/zero; echo done > $1"),
    harmless("output: escapes for the terminal", "printf '\\033[2J\\033]0;x\\007' >&2; printf 'done \\033[31m' > $1"),
    // Records in whose place there is something else.
    harmless(
        "records: links",
        "for f in diff.patch evidence.json trajectory.json result.json started.json; do ln -sf $VICTIM/file $TRIAL/$f; done; touch new; echo done > $1",
    ),
    harmless(
        "records: directories",
        "for f in result.json evidence.json; do mkdir -p $TRIAL/$f/deep; done; echo done > $1",
    ),
    harmless(
        "records: pipes",
        "rm -f $TRIAL/started.json; for f in result.json started.json diff.patch; do mkfifo $TRIAL/$f; done; touch new; echo done > $1",
    ),
    harmless(
        "records: links to directories",
        "ln -s $VICTIM $TRIAL/hooks; ln -s $VICTIM $TRIAL/graders; echo done > $1",
    ),
    refused("records: link in place of the trial", "mv $TRIAL $TRIAL.moved; ln -s $VICTIM $TRIAL; echo done > $1"),
    refused("records: no trial", "rm -rf $TRIAL; true"),
    harmless(
        "records: links of standard streams",
        "ln -s $VICTIM/file $(dirname $1)/stdout.txt; ln -s $VICTIM/file $(dirname $1)/stderr.txt; echo said; echo done > $1",
    ),
    harmless("records: no permissions", "echo done > $1; chmod 000 $TRIAL/workspace/docs; chmod 500 $TRIAL"),
    // Workspaces.
    harmless("workspace: pipes and sockets", "mkfifo a b c; echo done > $1"),
    harmless("workspace: devices", "mknod zero c 1 5 2>/dev/null; mknod disk b 7 200 2>/dev/null; echo done > $1"),
    harmless(
        "workspace: links to everything",
        "ln -s / root; ln -s /proc/self/fd fd; ln -s /dev/zero zero; ln -s . here; ln -s $VICTIM victim; echo done > $1",
    ),
    harmless(
        "workspace: 1,000 levels",
        "i=0; while [ $i -lt 1000 ]; do mkdir d && cd d; i=$((i+1)); done; echo done > $1",
    ),
    refused(
        "workspace: 20,000 levels, and no end",
        "perl -e 'for (1..20000) { mkdir q(d) and chdir q(d) or die } sleep 1000'",
    ),
    harmless(
        "workspace: 20,000 levels",
        "perl -e 'for (1..20000) { mkdir q(d) and chdir q(d) or die }'; echo done > $1",
    ),
    harmless(
        "workspace: 20,000 files",
        "i=0; while [ $i -lt 200 ]; do mkdir $i; (cd $i; touch $(seq 100)); i=$((i+1)); done; echo done > $1",
    ),
    harmless("workspace: 60,000 names", "mkdir m; (cd m; seq 60000 | xargs touch); echo done > $1"),
    harmless("workspace: 400 GB that take no space", "truncate -s 400G big; echo done > $1"),
    harmless("workspace: 500 MB", "head -c 500000000 /dev/zero > big; echo done > $1"),
    harmless(
        "workspace: odd names",
        "touch -- \"$(printf 'a\\nb')\" \"$(printf '\\377')\" '-rf' '$(id)' \"$(printf '%0250d' 0)\"; echo done > $1",
    ),
    harmless(
        "workspace: no permissions",
        "mkdir -p locked/in; touch locked/in/file; chmod 000 locked/in locked docs/old.txt; echo done > $1",
    ),
    harmless("workspace: removed", "echo done > $1; rm -rf $TRIAL/workspace/docs"),
    harmless("workspace: hard link to a victim", "ln $VICTIM/file hard 2>/dev/null; echo done > $1"),
    harmless(
        "workspace: a text of one line of 30 MB",
        "head -c 30000000 /dev/zero | tr '\\0' x > long.txt; echo done > $1",
    ),
    refused(
        "workspace: link in its place",
        "cd /; rm -rf $TRIAL/workspace; ln -s $VICTIM $TRIAL/workspace; echo done > $1",
    ),
    // Changes while the workspace is captured: a process that stays for a moment.
    harmless(
        "swap: file and link",
        "(trap '' HUP; while :; do rm -f s; echo x > s; rm -f s; ln -s $VICTIM/file s; done) >/dev/null 2>&1 & sleep 0.1; echo done > $1",
    ),
    harmless(
        "swap: file and pipe",
        "(while :; do rm -f s; echo x > s; rm -f s; mkfifo s; done) >/dev/null 2>&1 & sleep 0.1; echo done > $1",
    ),
    harmless(
        "swap: directory and link",
        "(while :; do rm -rf d; mkdir d; touch d/x; rm -rf d; ln -s $VICTIM d; done) >/dev/null 2>&1 & sleep 0.1; echo done > $1",
    ),
    harmless(
        "swap: a file that grows",
        "(while :; do head -c 100000 /dev/zero >> log; done) >/dev/null 2>&1 & sleep 0.1; echo done > $1",
    ),
    harmless(
        "swap: directories that move",
        "mkdir -p a/b/c; (while :; do mv a z; mv z a; done) >/dev/null 2>&1 & sleep 0.1; echo done > $1",
    ),
    // Processes.
    refused("processes: never ends", "sleep 1000"),
    refused("processes: ignores TERM", "trap '' TERM INT HUP; while :; do sleep 1; done"),
    refused("processes: spins", "while :; do :; done"),
    refused("processes: stopped", "kill -STOP $$; sleep 1000"),
    harmless("processes: 200 that stay", "i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; echo done > $1"),
    harmless(
        "processes: 50 that leave their session",
        "i=0; while [ $i -lt 50 ]; do setsid sleep 1000 & i=$((i+1)); done; echo done > $1",
    ),
    harmless(
        "processes: they start each other",
        "cat > fork.sh <<'S'\nn=$1; [ $n -gt 0 ] || exec sleep 1000\nsetsid sh fork.sh $((n-1)) & sh fork.sh $((n-1)) &\nwait\nS\nsh fork.sh 6 & sleep 0.2; echo done > $1",
    ),
    harmless("processes: they hold the streams", "setsid sleep 1000 & echo done > $1"),
    refused(
        "processes: they start others when asked to end",
        "trap 'setsid sleep 1000 & exit 0' TERM; sleep 1000 & wait",
    ),
    harmless("processes: they close everything", "exec 0<&- 2>&-; echo done > $1; exec 1>&-"),
    refused("processes: they end their group", "kill -9 0"),
    // Secrets, in the answer, the transcript and the streams, as they are and encoded.
    harmless(
        "secrets: encoded",
        r#"export S="$CAMPAIGN_SECRET"
all() {
  printf '%s\n' "$S"; for before in '' u us; do printf '%s%s more text after it, longer than a line' "$before" "$S" | base64 -w 76; done
  python3 - <<'P'
import base64, json, os, shlex, urllib.parse
s = os.environ["S"]
print(json.dumps(s), json.dumps(s, ensure_ascii=False), shlex.quote(s), urllib.parse.quote(s), urllib.parse.quote_plus(s), sep="\n")
print(json.dumps(s).replace("/", "\\/"), json.dumps(s).replace("&", "\\u0026"), sep="\n")
print(base64.urlsafe_b64encode(("x" + json.dumps(s)).encode()).decode().rstrip("="))
P
}
all; all >&2; all > new.txt; { echo done; all; } > $1
python3 -c 'import base64,json,os,urllib.parse; s=os.environ["S"]; t=" ".join([s, urllib.parse.quote(s), base64.b64encode(s.encode()).decode(), ""]); json.dump({"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":t + "done","tool_calls":[{"tool_call_id":"1","function_name":"f","arguments":{t:t}}]}]}, open(os.environ["EVALSUITE_TRAJECTORY_PATH"],"w"))'"#,
    ),
    refused(
        "secrets: cut by the time limit",
        r#"for f in /dev/stdout /dev/stderr $1 $EVALSUITE_TRAJECTORY_PATH; do printf '[{"a": "%.15s' "$CAMPAIGN_SECRET" >> $f; done; sleep 1000"#,
    ),
    refused(
        "secrets: cut by a kill",
        r#"for f in /dev/stdout /dev/stderr $1 $EVALSUITE_TRAJECTORY_PATH; do printf '%s' "$CAMPAIGN_SECRET" | base64 -w 0 | head -c 21 >> $f; done; kill -9 $$"#,
    ),
];
