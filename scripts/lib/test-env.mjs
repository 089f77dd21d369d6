/** Names of variables that would let a developer's keys, providers or settings leak into a test. */
const STRIPPED =
  /^(ANTHROPIC|OPENAI|GOOGLE|GEMINI|OPENROUTER|DEEPSEEK|MISTRAL|GROQ|XAI|AZURE|AWS|OLLAMA|LMSTUDIO|VARVE|GIT)_|^(NODE_OPTIONS|FORCE_COLOR|XDG_[A-Z_]+)$/i;

/** Variables in the stripped families that the test run itself sets. */
const KEPT = new Set(["VARVE_TEST_COUNTS"]);

/** The environment that every test sees, whatever the machine: same zone, language, home and git identity. */
export function testEnvironment(home) {
  return {
    TZ: "UTC",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    HOME: home,
    USERPROFILE: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_AUTHOR_NAME: "Varve Test",
    GIT_AUTHOR_EMAIL: "test@varve.invalid",
    GIT_COMMITTER_NAME: "Varve Test",
    GIT_COMMITTER_EMAIL: "test@varve.invalid",
    GIT_TERMINAL_PROMPT: "0",
  };
}

/** Changes `env` in place: strips what could leak in, then sets what every test may rely on. */
export function applyTestEnvironment(env, home) {
  for (const name of Object.keys(env)) {
    if (STRIPPED.test(name) && !KEPT.has(name)) delete env[name];
  }
  Object.assign(env, testEnvironment(home));
}
