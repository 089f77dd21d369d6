/** Flags that take the next argument as their value. */
const WITH_VALUE = new Set(["--host", "--port", "--home", "--allow-host", "--import-db"]);
/** Flags that npm takes for its own settings when they stand before `--`; npm then passes them in the environment. */
const EATEN_BY_NPM = ["port", "host", "home", "open", "allow_host", "import_db"];

/**
 * One sentence when the arguments of `npm start` can't be meant as they arrived, else undefined. A word that is neither
 * a flag nor a flag's value was written before `--`, and so was a flag that npm kept for itself.
 */
export function misplacedArgument(args, env = {}) {
  const stray = args.find((word, at) => !word.startsWith("-") && !WITH_VALUE.has(args[at - 1]));
  const eaten = EATEN_BY_NPM.find((name) => env[`npm_config_${name}`] !== undefined);
  if (eaten !== undefined) return sentence(spelled(eaten, env[`npm_config_${eaten}`], stray));
  return stray === undefined ? undefined : sentence("--port 5000");
}

function spelled(name, value, stray) {
  const flag = `--${value === "" ? "no-" : ""}${name.replace("_", "-")}`;
  if (value === "") return flag;
  const given = value === "true" ? stray : value;
  return given === undefined ? flag : `${flag} ${given}`;
}

const sentence = (example) => `flags go after \`--\`: npm start -- ${example}`;
