/**
 * The environment of a child: the user's, less Varve's own variables and the hidden ones, plus what keeps programs from
 * waiting for a person who is not there.
 */
import { hiddenNames } from "../secrets/hidden-names.ts";
import type { ToolPlace } from "./tool.ts";

/** Every process of a call carries it, so that those that leave the process group are found. */
export const markVariable = "AGENT_CALL_MARK";

const quiet: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  TERM: "dumb",
  NO_COLOR: "1",
};

/** Set by the program that started the server, about the server's own package; a child would take them for its own. */
const notTheUsers = /^(npm_(package|lifecycle)_.*|npm_(command|execpath|node_execpath|config_local_prefix)|INIT_CWD)$/;

export function childEnvironment(
  own: Readonly<Record<string, string>>,
  place: Pick<ToolPlace, "hiddenEnv">,
  mark: string,
): Readonly<Record<string, string>> {
  const isHidden = hiddenNames(place.hiddenEnv);
  const passed = Object.entries(own).filter(
    ([name]) => !/^VARVE_/i.test(name) && !isHidden(name) && !notTheUsers.test(name),
  );
  const { FORCE_COLOR: _colors, GIT_ASKPASS: _git, SSH_ASKPASS: _ssh, ...kept } = Object.fromEntries(passed);
  return { ...kept, ...quiet, [markVariable]: mark };
}
