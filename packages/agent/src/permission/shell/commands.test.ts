/**
 * Commands by the grammar of the shell: what each production makes of what stands in it, against the same rules throughout.
 * `ok`, `ls` and `git` stand for programs that are allowed with any arguments, `bad` for one that is not.
 */
import { describe, expect, test } from "vitest";
import { decide } from "../decide.ts";
import type { PermissionContext, PermissionRule } from "../decide-contract.ts";
import { readCommand } from "./read-command.ts";
import { shellLimits } from "./shell-part.ts";

type Expected = "allow" | "ask" | "deny";
type Row = readonly [command: string, decision: Expected, asks?: readonly string[] | undefined];

const allowing = [
  "ok",
  "ok *",
  "ls",
  "ls *",
  "git *",
  "find *",
  "tar *",
  "sed *",
  "awk *",
  "sh *",
  "env *",
  "python3 *",
];
const rulesOf = (
  action: PermissionRule["action"],
  patterns: readonly string[],
  tool = "bash",
): readonly PermissionRule[] => patterns.map((pattern) => ({ action, tool, pattern }));

function asked(command: string, more: Partial<PermissionContext> = {}) {
  const subject = { tool: "bash", key: `${command}\nin /ws`, command };
  const context = { mode: "ask", rules: rulesOf("allow", allowing), granted: [], cwd: "/ws", ...more } as const;
  return decide({ effect: "run", subject }, context);
}

function expectRow([command, decision, asks]: Row, more: Partial<PermissionContext> = {}): void {
  const outcome = asked(command, more);
  expect(outcome.decision).toBe(decision);
  if (asks === undefined || outcome.decision !== "ask") return;
  const parts = outcome.parts ?? [{ text: command, asks: true }];
  expect(parts.filter((part) => part.asks).map(({ text }) => text)).toEqual(asks);
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: a shell's expansions.
const compounds: readonly Row[] = [
  ["ok", "allow"],
  ["ok a b", "allow"],
  ["  ok\ta  ", "allow"],
  ["ok # bad", "allow"],
  ["bad", "ask", ["bad"]],
  ["ok; ls", "allow"],
  ["ok && ls || git status", "allow"],
  ["ok\nls", "allow"],
  ["ok & ls", "allow"],
  ["ok | ls |& git log", "allow"],
  ["ok; bad", "ask", ["bad"]],
  ["ok && bad x", "ask", ["bad x"]],
  ["ok || bad", "ask", ["bad"]],
  ["ok | bad", "ask", ["bad"]],
  ["ok |& bad", "ask", ["bad"]],
  ["ok & bad", "ask", ["bad"]],
  ["ok\nbad", "ask", ["bad"]],
  ["bad; ok; bad 2", "ask", ["bad", "bad 2"]],
  ["! bad", "ask", ["bad"]],
  ["! ok", "allow"],
  ["time bad", "ask", ["bad"]],
  ["time -p ok", "allow"],
  ["(ok; ls)", "allow"],
  ["(ok; bad)", "ask", ["bad"]],
  ["{ ok; bad; }", "ask", ["bad"]],
  ["if ok; then ls; fi", "allow"],
  ["if bad; then ok; fi", "ask", ["bad"]],
  ["if ok; then bad; fi", "ask", ["bad"]],
  ["if ok; then ls; elif bad; then ls; else ok; fi", "ask", ["bad"]],
  ["if ok; then ls; else bad; fi", "ask", ["bad"]],
  ["while ok; do bad; done", "ask", ["bad"]],
  ["until bad; do ok; done", "ask", ["bad"]],
  ["for f in a b; do ok; done", "allow"],
  ["for f in a b; do bad $f; done", "ask", ["bad $f"]],
  ["for f in $(bad); do ok; done", "ask", ["bad"]],
  ["case x in x) bad;; esac", "ask", ["bad"]],
  ["case $(bad) in x) ok;; esac", "ask", ["bad"]],
  ["case x in $(bad)) ok;; esac", "ask", ["bad"]],
  ["case x in x) ok;; y) ls;; esac", "allow"],
  ["[[ -f x ]] && ok", "allow"],
  ["[[ $(bad) = x ]] && ok", "ask", ["bad"]],
  ["[ -f x ] && ok", "allow"],
  ["ok; echo $?", "allow"],
  ["echo hello", "ask", ["echo hello"]],
  ["f() { bad; }; ok", "ask", ["bad"]],
  ["f() { ok; }; f", "ask", ["f"]],
  ["function f { bad; }", "ask", ["bad"]],
  ["ok() { bad; }; ok", "ask", ["bad"]],
  ['ls() { "$@"; }; ls bad', "ask", ['"$@"']],
];

const substitutions: readonly Row[] = [
  ["ok $(ls)", "allow"],
  ["ok $(bad)", "ask", ["bad"]],
  ["ok `bad`", "ask", ["bad"]],
  ['ok "$(bad)"', "ask", ["bad"]],
  ['ok "a `bad` b"', "ask", ["bad"]],
  ["ok `ok \\`bad\\``", "ask", ["bad"]],
  ["ok $(ok $(bad))", "ask", ["bad"]],
  ["ok <(bad)", "ask", ["bad"]],
  ["ok >(bad)", "ask", ["bad"]],
  ["ok ${x:-$(bad)}", "ask", ["bad"]],
  ["ok ${x:+`bad`}", "ask", ["bad"]],
  ["ok ${x#$(bad)}", "ask", ["bad"]],
  ["ok ${x/$(bad)/y}", "ask", ["bad"]],
  ["x=$(bad); ok", "ask", ["bad"]],
  ["x=(a $(bad)); ok", "ask", ["bad"]],
  ["ok > >(bad)", "ask"],
  ["ok - <<< $(bad)", "ask", ["bad"]],
  ["ok - <<EOF\n$(bad)\nEOF", "ask", ["bad"]],
  ["ok - <<'EOF'\n$(bad)\nEOF", "allow"],
  ["ok - <<EOF\nbad\nEOF\nbad 2", "ask", ["bad 2"]],
  ["ok - <<-EOF\n\tbad\n\tEOF\nls", "allow"],
  ["ok '$(bad)'", "allow"],
  ["ok \\$(bad)", "ask"],
  ['ok "\\$(bad)"', "allow"],
  ["ok '; bad'", "allow"],
  ['ok "; bad"', "allow"],
  ["ok \\; bad", "allow"],
  ["ok $'\\'; bad'", "allow"],
  ["ok {a,$(bad)}", "ask", ["bad"]],
  ["$(bad)", "ask"],
  ["ok $((1 + 2))", "allow"],
  ["ok $((1 + $(bad)))", "ask"],
];

const wrapped: readonly Row[] = [
  ["env ok", "allow"],
  ["env bad", "ask", ["bad"]],
  ["command ok", "allow"],
  ["command -p bad", "ask", ["bad"]],
  ["command -v bad && ok", "allow"],
  ["builtin bad", "ask", ["bad"]],
  ["exec ok", "allow"],
  ["exec bad", "ask", ["bad"]],
  ["exec -a ok bad", "ask", ["exec -a ok bad"]],
  ["nohup bad &", "ask", ["bad"]],
  ["nohup ok &", "allow"],
  ["setsid -f bad", "ask", ["bad"]],
  ["nice bad", "ask", ["bad"]],
  ["nice -n 5 ok", "allow"],
  ["nice -5 bad", "ask", ["bad"]],
  ["nice --adjustment=5 bad", "ask", ["bad"]],
  ["ionice -c 3 bad", "ask", ["bad"]],
  ["timeout 5 ok", "allow"],
  ["timeout -k 1 -s KILL 5 bad", "ask", ["bad"]],
  ["timeout --signal=KILL 5 bad", "ask", ["bad"]],
  ["timeout --odd 5 ok", "ask", ["timeout --odd 5 ok"]],
  ["timeout $x ok", "ask", ["timeout $x ok"]],
  ["stdbuf -oL bad", "ask", ["bad"]],
  ["stdbuf -o L ok", "allow"],
  ["env nice timeout 5 bad", "ask", ["bad"]],
  ["env nice timeout 5 ok", "allow"],
  ["env -S 'bad x'", "ask", ["env -S 'bad x'"]],
  ["env -i ok", "ask", ["env -i ok"]],
  ["xargs ok", "allow"],
  ["ls | xargs -0 -n 1 bad", "ask", ["bad …"]],
  ["ls | xargs -I{} bad {}", "ask", ["bad {}"]],
  ["ls | xargs -I{} {} x", "ask", ["{} x"]],
  ["ls | xargs -I{} ok {}", "allow"],
  ["ls | xargs git", "ask", ["git …"]],
  ["ls | xargs sh -c bad", "ask", ["bad"]],
  ["ls | xargs sh", "ask", ["sh …"]],
  ["ls | xargs -I{} -n2 git log", "ask"],
  ["ls | xargs -I{} -L1 git log", "ask"],
  ["ls | xargs -E -Ifoo git log", "ask"],
  ["ls | xargs -0rI {} ok {}", "allow"],
  ["find . -exec bad {} \\;", "ask", ["bad {}"]],
  ["find . -exec ok {} +", "allow"],
  ["find . -name x -execdir bad {} \\; -exec ls {} \\;", "ask", ["bad {}"]],
  ["find . -ok {} \\;", "ask", ["{}"]],
  ["find . -exec sh -c 'bad \"$1\"' _ {} \\;", "ask", ['bad "$1"']],
  ["find . -delete", "ask", ["find . -delete"]],
  ["find $x", "ask", ["find $x"]],
  ["find . -name '*.ts'", "allow"],
  ["sh -c ok", "allow"],
  ["sh -c bad", "ask", ["bad"]],
  ["bash -c -x ok", "ask", ["bash -c -x ok"]],
  ["bash -c +x ok", "ask", ["bash -c +x ok"]],
  ["bash -euc 'ok; bad'", "ask", ["bad"]],
  ["bash -o pipefail -c 'ok | bad'", "ask", ["bad"]],
  ["dash -c \"sh -c 'bad'\"", "ask", ["bad"]],
  ['sh -c "$x"', "ask", ['sh -c "$x"']],
  ["sh -c 'ok \"$1\"' x y", "allow"],
  ["sh -c '$0' bad", "ask", ["$0"]],
  ["sh -c \"ok \\$'\\\\'; bad #'\"", "ask"],
  ["sh -c 'ok &> f bad'", "ask"],
  ["zsh -c 'ok'", "ask", ["zsh -c 'ok'"]],
  ["sh", "ask", ["sh"]],
  ["ok | sh", "ask", ["sh"]],
  ["sh < x", "ask", ["sh < x"]],
  ["sh -s x", "ask", ["sh -s x"]],
  ["sh script", "ask", ["sh script"]],
  ["python3", "ask", ["python3"]],
  ["ok | python3 -", "ask", ["python3 -"]],
  ["python3 x.py", "allow"],
  ["eval ok", "allow"],
  ["eval 'ok; bad'", "ask", ["bad"]],
  ["eval ba d", "ask", ["ba d"]],
  ['eval "$x"', "ask", ['eval "$x"']],
  ["trap bad EXIT; ok", "ask", ["bad"]],
  ["trap 'ok' EXIT", "allow"],
  ["trap - EXIT; ok", "allow"],
  ["source x", "ask", ["source x"]],
  [". ./x", "ask", [". ./x"]],
  ["sudo ok", "ask", ["sudo ok"]],
  ["doas bad", "ask", ["doas bad"]],
  ["ssh host ok", "ask", ["ssh host ok"]],
  ["watch ok", "ask", ["watch ok"]],
  ["parallel ok ::: a", "ask", ["parallel ok ::: a"]],
  ["busybox ok", "ask", ["busybox ok"]],
  ["strace ok", "ask", ["strace ok"]],
  ["./env ok", "ask", ["./env ok"]],
];

const unclear: readonly Row[] = [
  ["$x", "ask", ["$x"]],
  ["$x y", "ask", ["$x y"]],
  ["ok; ${x}", "ask", ["${x}"]],
  ['"$x"', "ask", ['"$x"']],
  ["o$x y", "ask", ["o$x y"]],
  ["* x", "ask", ["* x"]],
  ["o? x", "ask", ["o? x"]],
  ["{ok,bad}", "ask", ["{ok,bad}"]],
  ["~/ok", "ask", ["~/ok"]],
  ["../ok", "ask", ["../ok"]],
  ["ok; x=1 $y", "ask", ["x=1 $y"]],
  ["if ok; then", "ask"],
  ["ok; )", "ask"],
  ["ok 'a", "ask"],
  ['ok "a', "ask"],
  ["ok $(ls", "ask"],
  ["ok <<EOF\nls", "ask"],
  ["ok ;; ls", "ask"],
  ["ok $((x))", "ask"],
  ["ok $[x]", "ask"],
  ["((x = 1)); ok", "ask"],
  ["for ((i = 0; i < 3; i++)); do ok; done", "ask"],
  ["ok ${!x}", "ask"],
  ["ok ${x[y]}", "ask"],
  ["ok ${x[0]} ${x[@]}", "allow"],
  ["ok ${x@P}", "ask"],
  ["ok ${x:y}", "ask"],
  ["[[ x -eq y ]] && ok", "ask"],
  ["[[ -v x ]] && ok", "ask"],
  ["test -v x && ok", "ask"],
  ["coproc ok", "ask"],
  ["select x in a; do ok; done", "ask"],
  ["alias ok=bad; ok", "ask", ["alias ok=bad"]],
  ["hash -p /x ok; ok", "ask", ["hash -p /x ok"]],
  ["set -e; ok", "ask", ["set -e"]],
  ["enable -f x ok; ok", "ask", ["enable -f x ok"]],
  ["printf -v PATH x; ok", "ask", ["printf -v PATH x"]],
  ["ok; wait -p PATH", "ask", ["wait -p PATH"]],
  ["eval $'ok #\\r bad'", "ask"],
  ["sh -c $'ok \\u00a0# ; bad'", "ask"],
  ["read PATH; ok", "ask", ["read PATH"]],
  ["ok a\u0000", "ask"],
  ["ok\rbad", "ask"],
  ["ok a\u00a0b", "ask"],
  ["ok \u202ebad", "ask"],
  ["ok \u2028bad", "ask"],
  ["ok \ud800", "ask"],
];

const args: readonly Row[] = [
  ["ok $x", "allow"],
  ['ok "$x" *.ts {a,b} ~', "allow"],
  ["git log $x", "ask", ["git log $x"]],
  ['git log "src/$x"', "allow"],
  ["git log src/$x", "ask", ["git log src/$x"]],
  ["git log src/*", "allow"],
  ["git log -n$x", "ask", ["git log -n$x"]],
  ['git log "$@"', "ask", ['git log "$@"']],
  ["git -c core.pager=bad log", "ask"],
  ["git -C /x status", "ask"],
  ["git --exec-path=/x status", "ask"],
  ["git --no-pager log", "allow"],
  ["git odd", "ask"],
  ["git fetch --upload-pack=bad", "ask"],
  ["git fetch --upload-p bad", "ask"],
  ["git fetch ext::bad", "ask"],
  ["git rebase -x bad", "ask"],
  ["git rebase main", "allow"],
  ["git grep -Obad x", "ask"],
  ["git config core.pager bad", "ask"],
  ["git bisect run bad", "ask"],
  ["git submodule foreach bad", "ask"],
  ["git clone x", "ask"],
  ["git commit -m 'git -c x'", "allow"],
  ["tar xf a.tar", "allow"],
  ["tar xf a.tar --to-command=bad", "ask"],
  ["tar xf a.tar --to-comm bad", "ask"],
  ["tar -I bad -xf a", "ask"],
  ["tar xf host:a", "ask"],
  ["tar xf *", "ask"],
  ["tar xfI a.tar ./bad", "ask"],
  ["tar If ./bad a.tar", "ask"],
  ["tar xf a.tar -T list", "ask"],
  ["tar xf a.tar --files-from list", "ask"],
  ["git push origin main", "allow"],
  ["git push https://host/x main", "allow"],
  ["git push ./bad.git main", "ask"],
  ["git push bad.git main", "ask"],
  ["git fetch -q ../bad", "ask"],
  ["git bundle create /x HEAD", "ask"],
  ["git worktree add ../x", "ask"],
  ["git format-patch -o /x HEAD", "ask"],
  ["git apply --unsafe-paths x", "ask"],
  ["sed -n 1,5p x", "allow"],
  ["sed 's/a/b/g' x", "allow"],
  ["sed 's/a/bad/e' x", "ask"],
  ["sed '1e bad' x", "ask"],
  ["sed 'w out' x", "ask"],
  ["sed -i 's/a/b/' x", "ask"],
  ["sed -Ei.old 's/a/b/' x", "ask"],
  ["sed -f script x", "ask"],
  ["sed -e p -e '1e bad' x", "ask"],
  ["awk '{print $1}' x", "allow"],
  ["awk '$1 >= 2 || $2' x", "allow"],
  ["awk 'BEGIN{system(\"bad\")}'", "ask"],
  ["awk '{print | \"bad\"}' x", "ask"],
  ["awk '{print > \"f\"}' x", "ask"],
  ["awk -f prog x", "ask"],
];

const surroundings: readonly Row[] = [
  ["x=1 ok", "ask", ["x=1 ok"]],
  ["env x=1 ok", "ask", ["x=1 ok"]],
  ["PATH=/x ok", "ask", ["PATH=/x ok"]],
  ["LD_PRELOAD=x ok", "ask", ["LD_PRELOAD=x ok"]],
  ["x=1; ok", "allow"],
  ["X=1; ok", "ask", ["X=1"]],
  ["PATH=/x; ok", "ask", ["PATH=/x"]],
  ["for PATH in /x; do ok; done", "ask"],
  ["ok ${PATH:=/x}", "ask"],
  ["export PATH=/x; ok", "ask", ["export PATH=/x"]],
  ["export X=1; ok", "ask", ["export X=1"]],
  ["a[$(bad)]=1; ok", "ask"],
  ["ok > f", "ask", ["ok > f"]],
  ["ok >> f", "ask", ["ok >> f"]],
  ["ok >| f", "ask", ["ok >| f"]],
  ["ok &> f", "ask", ["ok &> f"]],
  ["ok >& f", "ask", ["ok >& f"]],
  ["ok <> f", "ask", ["ok <> f"]],
  ["ok > $x", "ask", ["ok > $x"]],
  ["> f", "ask", ["> f"]],
  ["{ ok; ls; } > f", "ask", ["> f"]],
  ["ok 2>&1 >/dev/null 2>/dev/stderr", "allow"],
  ["ok >&2 2>&-", "allow"],
  ["ok < f", "allow"],
  ["ok < /etc/passwd", "ask", ["ok < /etc/passwd"]],
  ["ok < ../f", "ask", ["ok < ../f"]],
  ["ok < ~/f", "ask", ["ok < ~/f"]],
  ["ok < /dev/tcp/h/1", "ask", ["ok < /dev/tcp/h/1"]],
  ["ok {PATH}> /dev/null", "ask"],
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: a shell's expansions.

const named = (rows: readonly Row[]) => rows.map((row) => ({ row, command: JSON.stringify(row[0]), decision: row[1] }));

test.each(named([...compounds, ...substitutions]))("[PERM-30] $command: $decision", ({ row }) => expectRow(row));
test.each(named(wrapped))("[PERM-31] $command: $decision", ({ row }) => expectRow(row));
test.each(named(unclear))("[PERM-32] $command: $decision", ({ row }) => expectRow(row));
test.each(named(args))("[PERM-34] $command: $decision", ({ row }) => expectRow(row));
test.each(named(surroundings))("[PERM-36] $command: $decision", ({ row }) => expectRow(row));

describe("rules that speak clearly", () => {
  const allowed = (command: string, ...patterns: readonly string[]) =>
    asked(command, { rules: rulesOf("allow", patterns) }).decision;

  test.each([
    ["X=1 npm test", "X=1 npm test", "allow"],
    ["X=1 npm test", "X=1 npm *", "allow"],
    ["X=2 npm test", "X=1 npm *", "ask"],
    ["X=1 npm test", "X=? npm *", "ask"],
    ["X=1 npm test", "* npm test", "ask"],
    ["X=1 npm test", "*", "ask"],
    ["PATH=/x npm test", "PATH=/x npm test", "allow"],
    ["PATH=/x npm test; npm test", "PATH=/x npm test", "ask"],
    ["env X=1 npm test", "X=1 npm test", "allow"],
  ])("[PERM-35] %j by `%s`: %s", (command, pattern, decision) => {
    expect(allowed(command, pattern)).toBe(decision);
  });

  test.each([
    ["ok > f; ls", ["ok > f", "ls"], "allow"],
    ["ok > f; ls", ["ok > *", "ls"], "ask"],
    ["ok > f; ls", ["ok *", "ls", "> f"], "ask"],
    ["ok > /dev/null; ls", ["ok", "ls"], "allow"],
    ["{ ok; } > f", ["ok", "> f"], "allow"],
  ])("[PERM-36] %j by %j: %s", (command, patterns, decision) => {
    expect(allowed(command, ...patterns)).toBe(decision);
  });

  test.each([
    ["ok $x; ls", "ok *", "allow"],
    ["ok $x; ls", "ok ??", "ask"],
    ["ok $x; ls", "ok $x", "ask"],
    ["ok a$x; ls", "ok a*", "allow"],
    ["ok a$x; ls", "ok ab*", "ask"],
    ["ok a$x; ls", "ok *b", "ask"],
    ["ok $x b; ls", "ok * b", "ask"],
    ["ok *; ls", "ok \\*", "ask"],
  ])("[PERM-33] %j by `%s`: %s", (command, pattern, decision) => {
    expect(allowed(command, pattern, "ls")).toBe(decision);
  });

  test.each([
    ["git -c a=b log; ls", "git -c a=b log", "allow"],
    ["watch ls; ls", "watch ls", "allow"],
    ["watch ls; ls", "watch *", "ask"],
    ["npx vitest run a; ls", "npx vitest *", "allow"],
    ["npx vitest run a; ls", "npx *", "ask"],
    ["npx -y vitest; ls", "npx -y *", "ask"],
    ["sudo ls; ls", "sudo ls", "ask"],
    ["npm exec bad; ls", "npm *", "ask"],
    ["npm run build; ls", "npm run *", "allow"],
    ["npm run x --script-shell=bad; ls", "npm *", "ask"],
    ["pnpm bad x; ls", "pnpm *", "ask"],
    ["pnpm --silent bad; ls", "pnpm *", "ask"],
    ["pnpm test a; ls", "pnpm *", "allow"],
    ["make -E '$(shell bad)'; ls", "make *", "ask"],
    ["sort -o f x; ls", "sort *", "ask"],
    ["sort --outp f x; ls", "sort *", "ask"],
    ["sort -rn x; ls", "sort *", "allow"],
    ["diff3 --diff-program=./bad a b c; ls", "diff3 *", "ask"],
    ["make CC=bad; ls", "make *", "ask"],
    ["./x/../../bin/rm a; ls", "./x/*", "ask"],
    ["python3 <<EOF\na\nEOF\nls", "python3", "ask"],
    ['"git log" x; ls', "git *", "ask"],
    ["'ok' x; ls", "ok *", "ask"],
  ])("[PERM-34] %j by `%s`: %s", (command, pattern, decision) => {
    expect(allowed(command, pattern, "ls")).toBe(decision);
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: a shell's expansions.
  test.each([
    "ok $'\\'; bad #'",
    "ok &> f bad",
    "ok <<< x",
    "ok <(ls)",
    "ok {a,b}",
    "[[ -f x ]] && ok",
    "ok |& ls",
    "ok ${x/a/b}",
  ])("[PERM-32] %j is asked where a plain sh runs it", (command) => {
    const rules = rulesOf("allow", ["ok *", "ls"]);
    expect(asked(command, { rules, shell: "posix" }).decision).toBe("ask");
    expect(asked("ok a | ls; ok $x", { rules, shell: "posix" }).decision).toBe("allow");
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: a shell's expansions.

  test("[PERM-31] an exact rule holds what a program is given to read", () => {
    const command = "cat <<EOF > f\none\nEOF\nls";
    expect(allowed(command, "cat <<EOF\none\nEOF > f", "ls")).toBe("allow");
    expect(allowed(command.replace("one", "two"), "cat <<EOF\none\nEOF > f", "ls")).toBe("ask");
  });
});

describe("rules that restrict", () => {
  const inAllow = (command: string, action: "ask" | "deny", pattern: string, tool = "bash") =>
    asked(command, { mode: "allow", rules: rulesOf(action, [pattern], tool) }).decision;

  test.each([
    ["$x -r .", "ask"],
    ["r$x -r .", "ask"],
    ["bash -c -x $'\\x72m -r y'", "ask"],
    ["l$x -r .", "allow"],
    ["ls $x", "allow"],
    ['sh -c "$x"', "ask"],
    ["if rm -r x", "deny"],
    ["$'\\x72m' -r x", "deny"],
    ["sh -c 'r\"\"m -r x'", "deny"],
    ["find . -exec $'r\\155' {} +", "deny"],
    ["eval r'm' x", "deny"],
    ["xargs -I% %m x", "ask"],
  ])("[PERM-37] %j under `deny rm *` in mode allow: %s", (command, decision) => {
    expect(inAllow(command, "deny", "rm *")).toBe(decision);
  });

  test.each([
    ["ok > .env", "write", "**/.env", "deny"],
    ["ok > sub/../.env", "write", "/ws/.env", "deny"],
    ["ok >> /ws/.env", "*", "**/.env", "deny"],
    ["ok < .env", "read", "**/.env", "deny"],
    ["{ ok; } > .env", "edit", "**/.env", "deny"],
    ["ok > env", "write", "**/.env", "allow"],
    ["ok < .env", "write", "**/.env", "allow"],
  ])("[PERM-36] %j under `deny %s: %s` in mode allow: %s", (command, tool, pattern, decision) => {
    expect(inAllow(command, "deny", pattern, tool)).toBe(decision);
  });
});

describe("limits", () => {
  test("[PERM-32] what is too long, too many or too deep is one thing that is asked", () => {
    const long = `ok ${"a".repeat(shellLimits.charsMax)}`;
    const many = "ok;".repeat(shellLimits.partsMax + 1);
    const deep = Array.from({ length: shellLimits.depthMax + 1 }).reduce<string>(
      (inner) => `eval ${`'${inner.replaceAll("'", "'\\''")}'`}`,
      "ok",
    );
    for (const command of [long, many, deep]) {
      expect(asked(command).decision).toBe("ask");
      expect(readCommand(command)).toHaveLength(1);
    }
    expect(asked("ok;".repeat(shellLimits.partsMax)).decision).toBe("allow");
  });

  test("[PERM-32] what nests deeper than it can be followed is asked, and breaks nothing", () => {
    for (const [open, close] of [
      ["f() ", ""],
      ["( ", " )"],
      ["{ ", "; }"],
      ["if ", "; then ok; fi"],
      ["! ", ""],
    ] as const) {
      for (const deep of [100, 1_000, 2_000, 4_000]) {
        const command = `${open.repeat(deep)}(bad)${close.repeat(deep)}`;
        expect(asked(command).decision).toBe("ask");
      }
    }
  });

  test("[PERM-32] a command that is made to be slow is read in a moment", () => {
    for (const part of ["$(", "`", "{ ", "((", "${x:-", "'", '"', "<<E\n", "[[ ", "if ", "a=(", "@(", "{a,", "$'\\"]) {
      const started = performance.now();
      readCommand(part.repeat(Math.floor(shellLimits.charsMax / part.length)));
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
});
